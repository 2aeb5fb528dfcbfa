/** A journal that an earlier build wrote is brought up to this one's format, and its runs go on. */
import { chmodSync, cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { defineMachine, JournalFormatError } from '../../src/index.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { kinds, useFleets } from '../support/fleets.ts';

const FIXTURE = fileURLToPath(new URL('../fixtures/journal-format-1', import.meta.url));
/** Shortly after it was written: its deadlines are far off. */
const WRITTEN_AT = Date.UTC(2026, 10, 15, 10);
const [DONE, HELD, WAITS] = [
  '01M7F9V77XMEKZJXAY6FNYEXN1',
  '01M7F9V79XAD6SSMY2MWMCVMZS',
  '01M7F9V7AFJDBWPDK541G3XHJM',
];

const { newDir, open, hear } = useFleets();

function copied(): string {
  const dataDir = newDir();
  cpSync(FIXTURE, dataDir, { recursive: true });
  chmodSync(dataDir, 0o700);
  for (const name of ['journal.db', 'journal.mark']) chmodSync(join(dataDir, name), 0o600);
  return dataDir;
}

function formatOf(dataDir: string): unknown {
  const file = new Database(join(dataDir, 'journal.db'), { readonly: true });
  try {
    return file.pragma('user_version', { simple: true });
  } finally {
    file.close();
  }
}

/** As it was when the file was written, but for what it counts. */
function newLine() {
  const calls: string[] = [];
  const line = defineMachine({
    name: 'fixture/line',
    version: 1,
    input: z.object({ name: z.string() }),
    timeout: { run: '3650d' },
    retry: { attemptMax: 3 },
    steps: (steps) =>
      steps
        .step('first', {
          check: 'none',
          work: ({ input }) => {
            calls.push(`first of ${input.name}`);
            return `first of ${input.name}`;
          },
        })
        .step('second', {
          check: ({ input }) => void calls.push(`check of ${input.name}`),
          work: ({ input }) => {
            calls.push(`second of ${input.name}`);
            return `second of ${input.name}`;
          },
          persist: ({ work }) => ({ said: work }),
        }),
  });
  return { line, calls };
}

test('a journal of format 1 is opened and upgraded, and its runs go on where they were', async () => {
  const dataDir = copied();
  expect(formatOf(dataDir)).toBe(1);
  const alarms = hear('journal.alarm');
  const changed = hear('machine.changed');
  const { line, calls } = newLine();
  const { fleet, clock } = await open({
    machines: [line],
    dataDir,
    clock: new FakeClock(WRITTEN_AT),
  });
  await clock.advance(60_000);
  expect(fleet.describe(DONE!)).toMatchObject({
    status: 'completed',
    output: { said: 'second of done' },
  });
  for (const [id, name] of [
    [HELD!, 'held'],
    [WAITS!, 'waits'],
  ] as const) {
    expect(fleet.describe(id)).toMatchObject({
      status: 'completed',
      output: { said: `second of ${name}` },
    });
  }
  // What was recorded is not done again; what was open is probed first.
  expect(calls.filter((call) => call.startsWith('first'))).toEqual([]);
  expect(calls.filter((call) => call.endsWith('held'))).toEqual([
    'check of held',
    'second of held',
  ]);
  expect(kinds(fleet, HELD!)).toContain('PROBED');
  expect([alarms, changed]).toEqual([[], []]);
  // Keys stand as before.
  const again = await fleet.startLocal(line, { name: 'done' }, { key: 'done' });
  expect(again.id).toBe(DONE);
  fleet.stopNow();
  expect(formatOf(dataDir)).toBe(2);
});

test('an upgraded journal is opened again as any other', async () => {
  const dataDir = copied();
  const clock = new FakeClock(WRITTEN_AT);
  const { line } = newLine();
  (await open({ machines: [line], dataDir, clock })).fleet.stopNow();
  const { fleet } = await open({ machines: [line], dataDir, clock });
  await clock.advance(60_000);
  expect(fleet.describe(HELD!)).toMatchObject({ status: 'completed' });
});

test('an upgrade does not seal what was damaged before it', async () => {
  const dataDir = copied();
  const file = new Database(join(dataDir, 'journal.db'));
  file.exec('update journal set lsn = lsn - 1');
  file.close();
  const alarms = hear('journal.alarm');
  await open({ machines: [newLine().line], dataDir, clock: new FakeClock(WRITTEN_AT) });
  expect(alarms).toMatchObject([{ kind: 'fileDamaged' }]);
});

test('a build refuses a format one above the newest it knows, and leaves the file as it is', async () => {
  const dataDir = copied();
  const { line } = newLine();
  const clock = new FakeClock(WRITTEN_AT);
  (await open({ machines: [line], dataDir, clock })).fleet.stopNow();
  const newest = Number(formatOf(dataDir));
  const file = new Database(join(dataDir, 'journal.db'));
  file.exec("create table later (a); update journal set seal = 'by rules of later'");
  file.pragma(`user_version = ${newest + 1}`);
  file.close();
  const bytes = readFileSync(join(dataDir, 'journal.db'));
  const opening = open({ machines: [line], dataDir, clock });
  await expect(opening).rejects.toThrow(JournalFormatError);
  await expect(opening).rejects.toThrow(
    `has format ${newest + 1}; this FleetQ knows formats up to ${newest}`,
  );
  expect(readFileSync(join(dataDir, 'journal.db')).equals(bytes)).toBe(true);
});
