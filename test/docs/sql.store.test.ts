/** The SQL of the pages is executed, page by page, on a real Postgres with the tables of FleetQ. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock, systemRandom } from '../../src/ground/index.ts';
import { openStore } from '../../src/store/index.ts';
import { runOn, startPostgres, type TestPostgres } from '../support/postgres.ts';
import { blocksOf, pages } from './markdown.ts';

const withSql = pages()
  .map((page) => ({ page, blocks: blocksOf(page).filter(({ kind }) => kind?.is === 'sql') }))
  .filter(({ blocks }) => blocks.length > 0);
let postgres: TestPostgres;

beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres?.remove());

test.each(withSql)('what $page tells Postgres is understood', async ({ blocks }) => {
  const address = await postgres.createDatabase();
  const options = { clock: systemClock, random: systemRandom, migrates: true };
  const store = await openStore(address, options);
  for (const { text } of blocks) {
    for (const statement of text.split(/;\s*$/m).filter((each) => each.trim() !== '')) {
      // A role outlives the database that was made for this: on a server of others it is left alone.
      if (/^\s*alter role/.test(statement) && !postgres.canCrash) continue;
      await runOn(address, statement);
    }
  }
  expect(await store.violations()).toEqual([]);
  await store.close();
});
