/** Runs of one host, as their journal tells them, with a process and without. */
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { showing } from '../../../src/admin/desk/mask.ts';
import { explain, type Finding, factsOfRun } from '../../../src/admin/explain/index.ts';
import { defineMachine, type Fleet } from '../../../src/index.ts';
import { anyInput, gate, never, useFleets } from '../../support/fleets.ts';
import { expectReason, expectWhole, findingOf } from './support.ts';

const { open, afterCrash } = useFleets();

function explained(fleet: Fleet, id: string, now: number, isHeld = true): Finding[] {
  const summary = fleet.describe(id);
  const records = summary.status === 'quarantined' ? [] : fleet.events(id);
  const asked = { now, isHeld, shown: showing(false, []), machines: fleet.machines };
  const findings = explain(factsOfRun({ summary, records }, asked));
  findings.forEach(expectWhole);
  return findings;
}

const waiting = (name: string, input: z.ZodType = anyInput) =>
  defineMachine({ name, version: 1, input: input as never, check: 'none', work: () => never() });

test('a process is at it', async () => {
  const machine = waiting('one');
  const { fleet, clock } = await open({ machines: [machine] });
  const { id } = await fleet.startLocal(machine, {} as never);
  await clock.advance(1_500);
  expectReason(explained(fleet, id, clock.now()), {
    code: 'running',
    says: /^It is running: the process that holds its journal has been at it for 1\.5 s, in main\.work, attempt 1\.$/,
  });
});

test('no process holds its journal', async () => {
  const machine = waiting('one');
  const { fleet, clock } = await open({ machines: [machine] });
  const { id } = await fleet.startLocal(machine, {} as never);
  await clock.advance(60_000);
  expectReason(explained(fleet, id, clock.now(), false), {
    code: 'no-process',
    says: /^No process holds its journal, so nobody goes on with it: it has stood in main\.work for 1 min, and goes on by itself when one does\.$/,
    command: /^fleetq worker$/,
  });
});

test('the store does not answer: what its journal knows, and for how long its pod has been alone', async () => {
  const machine = waiting('one');
  const { fleet, clock } = await open({ machines: [machine] });
  const { id } = await fleet.startLocal(machine, {} as never);
  await clock.advance(1_000);
  const asked = { now: clock.now(), isHeld: true, shown: showing(false, []), machines: [] };
  const summary = fleet.describe(id);
  const told = (generation: number | undefined, aloneMs: number | undefined) => {
    const facts = factsOfRun({ summary: { ...summary, generation }, records: [] }, asked);
    const findings = explain({ ...facts, away: { aloneMs } });
    findings.forEach(expectWhole);
    return findings.map(({ code, sentence }) => `${code}: ${sentence}`);
  };
  expect(told(1, 40_000)[0]).toMatch(
    /^store-away: The store does not answer, and its pod has been alone for 40 s past its deadline: no phase of it begins/,
  );
  expect(told(1, undefined)[0]).toMatch(/the deadline of its pod has not passed yet/);
  expect(told(undefined, 40_000)).toMatchObject([
    expect.stringMatching(/it was started on this host and goes on/),
    expect.stringMatching(/^running: /),
  ]);
});

test('it backs off, n of so many', async () => {
  const machine = defineMachine({
    name: 'one',
    version: 1,
    input: anyInput,
    retry: { attemptMax: 4, backoff: () => 60_000 },
    check: 'none',
    work: (): null => {
      throw new Error('no luck');
    },
  });
  const { fleet, clock } = await open({ machines: [machine] });
  const { id } = await fleet.startLocal(machine, {});
  await clock.advance(1_000);
  const says =
    /^It backs off: attempt 1 of 4 of main\.work failed .* ago \(no luck\), and the next is due in \d+ s\.$/;
  expectReason(explained(fleet, id, clock.now()), { code: 'backing-off', says });
  const alone = explained(fleet, id, clock.now(), false);
  expect(alone.slice(0, 2).map(({ code }) => code)).toEqual(['no-process', 'backing-off']);
});

test('its process died inside of a phase', async () => {
  const held = gate();
  const machine = defineMachine({
    name: 'one',
    version: 1,
    input: anyInput,
    check: 'none',
    work: async ({ attempt }) => (attempt === 1 ? never() : held.opened),
  });
  const first = await open({ machines: [machine] });
  const { id } = await first.fleet.startLocal(machine, {});
  await first.clock.advance(1_000);
  const { fleet, clock } = await afterCrash(first, { machines: [machine] });
  held.open();
  await clock.advance(1_000);
  const findings = explained(fleet, id, clock.now());
  expect(findings[0]!.code).toBe('completed');
  expect(findingOf(findings, 'process-died').sentence).toBe(
    'main.work ran again: a process of this host died inside it (epoch 1 → 2).',
  );
});

test('its machine is gone, its schema refuses it, its records are damaged', async () => {
  const machines = [waiting('gone'), waiting('strict'), waiting('damaged')] as const;
  const first = await open({ machines: [...machines] });
  const ids: string[] = [];
  for (const machine of machines) {
    ids.push((await first.fleet.startLocal(machine, { id: 'x' } as never)).id);
  }
  await first.clock.settle();
  first.fleet.stopNow();
  const file = new Database(join(first.dataDir, 'journal.db'));
  const ofTrigger = "select sql from sqlite_master where name = 'events_are_final'";
  const trigger = file.prepare(ofTrigger).pluck().get() as string;
  file.exec('drop trigger events_are_final');
  file.prepare("update events set data = replace(data, 'x', 'y') where run = ?").run(ids[2]);
  file.exec(trigger);
  file.close();
  const { fleet, clock } = await open({
    machines: [waiting('strict', z.object({ id: z.literal('z') })), machines[2]],
    dataDir: first.dataDir,
    clock: first.clock,
  });
  await clock.settle();
  const of = (id: string) => explained(fleet, id, clock.now());
  expectReason(of(ids[0]!), {
    code: 'waiting-for-version',
    says: /^It waits for its version: no machine gone@1 is registered here\.$/,
  });
  const says = /^It is quarantined, and nobody goes on with it: .+\.$/;
  expectReason(of(ids[1]!), { code: 'quarantined', says });
  expectReason(of(ids[2]!), { code: 'quarantined', says, command: /^fleetq journal verify$/ });
});
