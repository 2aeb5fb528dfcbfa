/** A store in standard tables keeps what every store promises, through the real driver. */
import { describeStore } from './conformance.ts';
import { snowflakeHarness, useSnowflake } from './snowflake-harness.ts';
import { testTexts } from './snowflake-texts.ts';

const scene = useSnowflake('standard');

describeStore('snowflake standard', snowflakeHarness(scene, 'standard', true));
testTexts(scene, 'standard');
