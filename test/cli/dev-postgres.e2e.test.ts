/** `fleetq dev --postgres <url>`: the pods share a server that is there already. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startPostgres, type TestPostgres } from '../support/postgres.ts';
import { begin, fleetq, makeDirectory } from './support.ts';

let postgres: TestPostgres;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres?.remove());

test('the tables are made, and samples run to their ends in that database', async () => {
  const url = await postgres.createDatabase();
  const dev = begin(['dev', '--postgres', url], { cwd: makeDirectory() });
  await dev.said(/completed on pod-\d/);
  dev.child.kill('SIGTERM');
  const { code, stderr } = await dev.ended;
  expect(code).toBe(0);
  expect(stderr).toMatch(/lost 0, doubled 0 of \d+ acknowledged/);
  const env = { FLEETQ_STORE_URL: url };
  const { stdout } = await fleetq(makeDirectory(), ['runs', 'status:completed', '--json'], { env });
  expect(stdout).toContain('"completed"');
});

test('an address that is no Postgres is refused in words, and so is none', async () => {
  const ask = (...args: string[]) => fleetq(makeDirectory(), ['dev', '--postgres', ...args]);
  const wrong = await ask('mysql://there');
  expect(wrong.code).toBe(2);
  expect(wrong.stderr).toContain('--postgres wants an address like postgres://user@host/database');
  expect(await ask()).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('argument missing'),
  });
});
