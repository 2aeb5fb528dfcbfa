/**
 * The suite on a live account, where one is given: FLEETQ_TEST_SNOWFLAKE_URL is its address, with a role
 * that may make schemas; FLEETQ_TEST_SNOWFLAKE_TABLES is hybrid or standard, both where nothing is said.
 */
import { describe } from 'vitest';
import type { TableKind } from '../../src/store/snowflake/migrate.ts';
import { describeStore } from './conformance.ts';
import { liveHarness } from './snowflake-live-harness.ts';

const address = process.env['FLEETQ_TEST_SNOWFLAKE_URL'];
const wanted = process.env['FLEETQ_TEST_SNOWFLAKE_TABLES'];
const KINDS: readonly TableKind[] = ['hybrid', 'standard'];

if (address === undefined) {
  describe.skip('snowflake on a live account: FLEETQ_TEST_SNOWFLAKE_URL names none', () => {
    describeStore('snowflake live', liveHarness('', 'hybrid'));
  });
} else {
  for (const kind of KINDS.filter((one) => wanted === undefined || wanted === one)) {
    describe(`on a live account, ${kind} tables`, () => {
      describeStore(`snowflake live ${kind}`, liveHarness(address, kind));
    });
  }
}
