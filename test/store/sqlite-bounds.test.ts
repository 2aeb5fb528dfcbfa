/** Rows with which nobody can count, in a file that is older than the rule against them. */
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { knownMigrations } from '../../src/store/sqlite/schema.ts';
import { useTempDirs } from '../support/temp-dir.ts';
import { completed, MACHINE, newTasks } from './factories.ts';
import { birthOf, claimRequest, podOf } from './harness.ts';
import { openMigrated, prompt } from './sqlite-harness.ts';

const newDir = useTempDirs();
const alder = podOf('alder');
const APPLICATION_ID = 0x464c5453;

/** As the build before the rule left it. */
function oldFile(...columns: readonly (readonly [string, string])[]): string {
  const file = join(newDir(), 'store', 'store.db');
  mkdirSync(dirname(file), { mode: 0o700, recursive: true });
  const database = new Database(file);
  const known = knownMigrations();
  const first = known.findIndex(({ name }) => name.includes('bound_step_tracker'));
  for (const { version, name, checksum, sql } of known.slice(0, first)) {
    database.exec(sql);
    const insert = 'insert into schema_version (version, name, checksum) values (?, ?, ?)';
    database.prepare(insert).run(version, name, checksum);
  }
  database.pragma(`application_id = ${APPLICATION_ID}`);
  for (const [names, values] of columns) {
    database.exec(`insert into step_tracker (machine, payload, ${names})
      values ('${MACHINE}', '{}', ${values})`);
  }
  database.close();
  return file;
}

const MAX = '9223372036854775807';
const UNCOUNTABLE = [
  ['deadline_at', MAX],
  ['run_at', `-${MAX}`],
  ['claim_epoch', MAX],
  ['claim_epoch', '9007199254740994'],
  ['claims', MAX],
  ['retry_count', MAX],
  ['key, key_ms', `'k', ${MAX}`],
] as const;

test('the migration mends what is there; it is claimed, settled, and refused from then on', async () => {
  const file = oldFile(...UNCOUNTABLE);
  const store = await openMigrated(file);
  try {
    await store.register(birthOf('alder'));
    await store.enqueue(newTasks(2));
    const claims = await store.claim(claimRequest(alder));
    expect(claims).toHaveLength(UNCOUNTABLE.length + 2);
    for (const { epoch } of claims) expect(Number.isSafeInteger(epoch)).toBe(true);
    const settled = await store.settle(
      alder,
      claims.map((claim) => completed(claim)),
    );
    expect(new Set(settled.map(({ kind }) => kind))).toEqual(new Set(['stood']));
    for (const [names, values] of UNCOUNTABLE) {
      const insert = `insert into step_tracker (machine, ${names}) values ('m', ${values})`;
      const inserting = () => prompt(file, (database) => database.exec(insert));
      expect(inserting, insert).toThrow(/out of range|UNIQUE/);
    }
  } finally {
    await store.close();
  }
});

test('a row that its table does not let anybody claim becomes a dead letter', async () => {
  const file = oldFile();
  const store = await openMigrated(file);
  try {
    await store.register(birthOf('alder'));
    prompt(file, (database) =>
      database.exec(`create trigger no_bad_claims before update on step_tracker
        when new.status = 'claimed' and new.payload = '"bad"'
        begin select raise(abort, 'not this one'); end`),
    );
    await store.enqueue([...newTasks(1, { payload: '"bad"', priority: 9 }), ...newTasks(2)]);
    expect(await store.claim(claimRequest(alder))).toHaveLength(2);
    const [letter] = await store.list({ isDeadLetter: true, countMax: 10 });
    expect(letter?.error).toContain('FLEETQ_ROW_REFUSED');
    expect(letter?.error).toContain('not this one');
  } finally {
    await store.close();
  }
});
