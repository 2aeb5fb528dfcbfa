/** Postgres keeps what every store promises with a pooler in transaction mode before it. */
import { afterAll, beforeAll, describe } from 'vitest';
import { findPgBouncer, startPgBouncer, type TestPgBouncer } from '../support/pgbouncer.ts';
import { describeStore } from './conformance.ts';
import { postgresHarness, usePostgres } from './postgres-harness.ts';

const pgBouncer = findPgBouncer();
const scene = usePostgres();

describe.skipIf(pgBouncer === undefined)('through PgBouncer in transaction mode', () => {
  let pooler: TestPgBouncer;
  beforeAll(async () => {
    // Other files may share the server, and its roles.
    await scene.client.query(`do $$ begin
      create role fleetq_pooled superuser login;
      exception when duplicate_object or unique_violation then null; end $$`);
    const database = new URL(scene.url).pathname.slice(1);
    await scene.client.query(
      `alter role fleetq_pooled in database ${database} set statement_timeout = '5s'`,
    );
    pooler = await startPgBouncer(pgBouncer!, scene.server);
  });
  afterAll(() => pooler?.stop());
  const address = () =>
    pooler
      .through(scene.url)
      .replace(/\/\/[^@]*@/, '//fleetq_pooled@')
      .concat('?pooled=true');

  describeStore('postgres', postgresHarness(scene, {}, address));
});
