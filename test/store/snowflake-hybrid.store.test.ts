/** A store in hybrid tables keeps what every store promises, through the real driver. */
import { describeStore } from './conformance.ts';
import { snowflakeHarness, useSnowflake } from './snowflake-harness.ts';
import { testTexts } from './snowflake-texts.ts';

const scene = useSnowflake('hybrid');

describeStore('snowflake hybrid', snowflakeHarness(scene, 'hybrid', true));
testTexts(scene, 'hybrid');
