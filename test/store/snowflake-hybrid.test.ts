/** A store in hybrid tables keeps what every store promises, through the real driver. */
import { describeStore } from './conformance.ts';
import { snowflakeHarness, useSnowflake } from './snowflake-harness.ts';

describeStore('snowflake hybrid', snowflakeHarness(useSnowflake('hybrid')));
