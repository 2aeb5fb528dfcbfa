/** A store in standard tables keeps what every store promises, though they keep no keys. */
import { describeStore } from './conformance.ts';
import { snowflakeHarness, useSnowflake } from './snowflake-harness.ts';

describeStore('snowflake standard', snowflakeHarness(useSnowflake('standard')));
