/** Postgres keeps what every store promises: in both ways of claiming, directly and through a pooler. */
import { afterAll, beforeAll, describe } from 'vitest';
import { findPgBouncer, startPgBouncer, type TestPgBouncer } from '../support/pgbouncer.ts';
import { describeStore } from './conformance.ts';
import { postgresHarness, usePostgres } from './postgres-harness.ts';

const scene = usePostgres();
const pgBouncer = findPgBouncer();

describeStore('postgres', postgresHarness(scene));
describeStore('postgres (cas)', postgresHarness(scene, { claimMode: 'cas' }));

describe.skipIf(pgBouncer === undefined)('through PgBouncer in transaction mode', () => {
  let pooler: TestPgBouncer;
  beforeAll(async () => {
    await scene.client.query(`create role fleetq_pooled superuser login`);
    await scene.client.query(`alter role fleetq_pooled set statement_timeout = '5s'`);
    pooler = await startPgBouncer(pgBouncer!, scene.server);
  });
  afterAll(() => pooler?.stop());
  const address = () =>
    pooler
      .through(scene.url)
      .replace(/\/\/[^@]*@/, '//fleetq_pooled@')
      .concat('?pooled=true');

  describeStore('postgres', postgresHarness(scene, {}, address));
  describeStore('postgres (cas)', postgresHarness(scene, { claimMode: 'cas' }, address));
});
