/** The conformance suite once more, with a pooler in transaction mode between the store and its server. */
import { afterAll, beforeAll, describe } from 'vitest';
import type { FilledStoreOptions } from '../../src/store/options.ts';
import { findPgBouncer, startPgBouncer, type TestPgBouncer } from '../support/pgbouncer.ts';
import { describeStore } from './conformance.ts';
import { type PostgresScene, postgresHarness } from './postgres-harness.ts';

const pgBouncer = findPgBouncer();

export function describePooled(
  name: string,
  scene: PostgresScene,
  more: Partial<FilledStoreOptions> = {},
): void {
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

    describeStore(name, postgresHarness(scene, more, address));
  });
}
