/** Postgres keeps what every store promises: directly and through a pooler. */
import { describeStore } from './conformance.ts';
import { postgresHarness, usePostgres } from './postgres-harness.ts';
import { describePooled } from './through-pooler.ts';

const scene = usePostgres();

describeStore('postgres', postgresHarness(scene));
describePooled('postgres', scene);
