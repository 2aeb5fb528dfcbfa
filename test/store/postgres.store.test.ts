/** Postgres keeps what every store promises. */
import { describeStore } from './conformance.ts';
import { postgresHarness, usePostgres } from './postgres-harness.ts';

describeStore('postgres', postgresHarness(usePostgres()));
