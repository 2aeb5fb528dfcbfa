/** Rows of a real SQLite file, as pods, sweeps and people with a prompt leave them. */
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { BULK_MACHINE } from '../../../src/store/index.ts';
import { MACHINE, MINUTE, newTask, parked, ROUTE } from '../../store/factories.ts';
import { birthOf, podOf, useScene } from '../../store/harness.ts';
import { openMigrated, sqliteHarness } from '../../store/sqlite-harness.ts';
import { useTempDirs } from '../../support/temp-dir.ts';
import { expectReason, explained, findingOf, type Wanted } from './support.ts';

const newDir = useTempDirs();
const file = join(newDir(), 'fleet.db');
beforeAll(async () => (await openMigrated(file)).close());
const scene = useScene(sqliteHarness(file));

const SILENT_MS = 15_000;
const routes = [{ route: ROUTE, fingerprint: 'f', shape: '[]' }];

/** Its owner dies so often, and each time somebody sweeps. */
async function killOwners(id: string, times: number, route = ROUTE): Promise<void> {
  for (let n = 0; n < times; n++) {
    const name = `owner-${n}`;
    const pod = await scene.pod(name);
    const head = n >= 2 ? 'suspect' : 'ready';
    expect(await scene.claimOne(pod, { head, routes: [route] })).toMatchObject({ task: id });
    await scene.kill(pod);
    const taking = { from: pod, by: podOf('sweeper'), to: 'pool', crashed: 'all' } as const;
    expect(await scene.store.take({ ...taking, countMax: 10, spreadMs: 0 })).toHaveLength(1);
    await scene.store.retire(pod);
  }
}

interface Situation extends Wanted {
  readonly situation: string;
  make(): Promise<string>;
}

const SITUATIONS: readonly Situation[] = [
  {
    situation: 'two owners died',
    code: 'suspect',
    says: /^It is a suspect, for 2 processes died while it ran: it waits for a process of its own/,
    command: /^fleetq events .* --trace$/,
    async make() {
      const id = await scene.enqueue();
      await killOwners(id, 2);
      await scene.pod('alder');
      return id;
    },
  },
  {
    situation: 'three owners died',
    code: 'crash-loop',
    says: /^It failed .* ago: its process died 3 times while it ran, without one step completed between\.$/,
    async make() {
      const id = await scene.enqueue();
      await killOwners(id, 3);
      return id;
    },
  },
  {
    situation: 'a machine that no pod has ever had, swept',
    code: 'machine-unknown',
    says: /no pod has ever had its machine; check the name, then redrive it\.$/,
    async make() {
      await scene.store.announce(routes);
      const id = await scene.enqueue({ machine: 'sample/tpyo' });
      await scene.pass(10 * MINUTE);
      expect(await scene.store.failHopeless(MINUTE, 10)).toHaveLength(1);
      return id;
    },
  },
  {
    situation: 'its deadline passed while nobody was there',
    code: 'timed-out',
    says: /^It failed .* ago: its deadline passed while no live pod could run it\.$/,
    async make() {
      await scene.store.announce(routes);
      const id = await scene.enqueue({ deadlineMs: 1_000 });
      await scene.pass(10 * MINUTE);
      expect(await scene.store.failHopeless(MINUTE, 10)).toHaveLength(1);
      return id;
    },
  },
  {
    situation: 'pinned to a host that is away',
    code: 'waiting-for-host',
    says: /^It goes on with its own journal alone, of pod alder, which was heard of 1 min ago\.$/,
    command: /^fleetq worker --data-dir/,
    async make() {
      const pod = await scene.pod('alder');
      const id = newTask().id;
      const of = { machine: MACHINE, version: 1, payload: '{}', journal: 'journal-alder' };
      await scene.store.mirror(pod, [{ id, ...of, deadlineMs: undefined, startedAgoMs: 0 }]);
      await scene.kill(pod);
      const taking = { from: pod, by: podOf('sweeper'), to: 'pool', crashed: 'none' } as const;
      await scene.store.take({ ...taking, countMax: 10, spreadMs: 0 });
      await scene.pass(MINUTE);
      return id;
    },
  },
  {
    situation: 'shelved by a pod that could not go on',
    code: 'waiting-for-version',
    says: /^It waits for its version: no pod that is up has sample\/one@1, and sample\/one@2 cannot go on with it: .*fleetq plan says what is in the way\. Pods look again in 1 min\.$/,
    command: /^fleetq plan$/,
    async make() {
      const pod = await scene.pod('alder', { routes: [`${MACHINE}@2`] });
      const claimed = await scene.claimNew(pod);
      await scene.store.settle(pod, [parked(claimed, 'version', MINUTE)]);
      return claimed.task;
    },
  },
  {
    situation: 'due for long, with room everywhere',
    code: 'overlooked',
    says: /^It has been due for 5 min, and 1 pod that could take it has not\.$/,
    command: /^fleetq doctor --store$/,
    async make() {
      const id = await scene.enqueue();
      await scene.pass(5 * MINUTE);
      await scene.pod('alder', { report: { capacity: 10, held: 2 } });
      return id;
    },
  },
  {
    situation: 'just due',
    code: 'due',
    says: /^It has been due for \d+ m?s, and 1 pod that could take it is up: it is about to be claimed\.$/,
    async make() {
      await scene.pod('alder', { report: { capacity: 10, held: 2 } });
      return scene.enqueue();
    },
  },
  {
    situation: 'due, and the one pod cannot write its journal',
    code: 'pods-stalled',
    says: /^It is due, and the one pod that could take it cannot write its journal: the disk is full\.$/,
    command: /^fleetq doctor --data-dir /,
    async make() {
      const report = { capacity: 3, held: 0, stalled: 'the disk is full' };
      await scene.pod('alder', { report });
      return scene.enqueue();
    },
  },
  {
    situation: 'due, and another pod can write its journal',
    code: 'due',
    says: /^It has been due for \d+ m?s, and 1 pod that could take it is up: it is about to be claimed\.$/,
    async make() {
      await scene.pod('alder', { report: { capacity: 3, held: 0, stalled: 'the disk is full' } });
      await scene.pod('birch', { report: { capacity: 3, held: 0 } });
      return scene.enqueue();
    },
  },
  {
    situation: 'claimed by a pod that cannot write its journal any more',
    code: 'owner-stalled',
    says: /^Pod alder, which holds it, cannot write its journal: the disk is full\. It stands still /,
    command: /^fleetq doctor --data-dir /,
    async make() {
      const pod = await scene.pod('alder', { report: { stalled: 'the disk is full' } });
      return (await scene.claimNew(pod)).task;
    },
  },
  {
    situation: 'pinned to a host whose pod cannot write its journal',
    code: 'waiting-for-host',
    says: /^It goes on with its own journal alone, of pod birch, which is up and cannot write its journal \(the disk is full\)\.$/,
    command: /^fleetq doctor --data-dir /,
    async make() {
      const former = await scene.pod('alder');
      const id = newTask().id;
      const of = { machine: MACHINE, version: 1, payload: '{}', journal: 'journal-alder' };
      await scene.store.mirror(former, [{ id, ...of, deadlineMs: undefined, startedAgoMs: 0 }]);
      await scene.kill(former);
      const taking = { from: former, by: podOf('sweeper'), to: 'pool', crashed: 'none' } as const;
      await scene.store.take({ ...taking, countMax: 10, spreadMs: 0 });
      const report = { stalled: 'the disk is full' };
      await scene.store.register({
        ...birthOf('birch'),
        journal: 'journal-alder',
        boot: 2,
        report,
      });
      return id;
    },
  },
  {
    situation: 'every pod full, and its own priority low',
    code: 'queue-full',
    says: /^It is due, and all 2 pods that could take it are full: 7 tasks of sample\/one@1 are ahead of it\.$/,
    async make() {
      await scene.pod('alder', { report: { capacity: 4, held: 4 } });
      await scene.pod('birch', { report: { capacity: 4, held: 5 } });
      for (let n = 0; n < 7; n++) await scene.enqueue({ priority: n + 1 });
      await scene.enqueue({ priority: 9, machine: 'sample/other' });
      await scene.enqueue({ priority: 9, due: { afterMs: MINUTE } });
      return scene.enqueue();
    },
  },
  {
    situation: 'claimed by somebody nobody knows',
    code: 'owner-dead',
    says: /^Pod pod-ghost, which holds it, is dead \(nobody knows it any more\)/,
    make() {
      scene.isChecked = false;
      const claim = { status: 'claimed', claim_epoch: 1, claimed_by: 'pod-ghost' };
      return scene.harness.insertPlain({ ...claim, machine: MACHINE });
    },
  },
  {
    situation: 'failed more often than its enqueuer allows',
    code: 'retries-spent',
    says: /^It failed .* ago: it failed more often than whoever enqueued it allows, which is 1\.$/,
    async make() {
      const pod = await scene.pod('alder');
      const claimed = await scene.claimNew(pod, { retriesMax: 1 });
      const settlement = parked(claimed, 'retry', MINUTE, { retriesAdd: 2 });
      await scene.store.settle(pod, [settlement]);
      return claimed.task;
    },
  },
  {
    situation: 'a shift of a bulk operation',
    code: 'crash-loop',
    says: /^It failed .* ago: its process died 3 times/,
    command: /^fleetq bulk list$/,
    async make() {
      const id = await scene.enqueue({ machine: BULK_MACHINE });
      await killOwners(id, 3, `${BULK_MACHINE}@1`);
      return id;
    },
  },
];

describe('in a file', () => {
  test.each(SITUATIONS)('$situation: $code', async ({ make, ...wanted }) => {
    const id = await make();
    expectReason(await explained(scene.store, id, { silentMs: SILENT_MS }), wanted);
  });

  test('a pod that cannot write its journal does not sweep', async () => {
    const { task } = await scene.claimNew(await scene.pod('alder'));
    await scene.pass(MINUTE);
    await scene.pod('birch', { report: { stalled: 'the disk is full' } });
    const findings = await explained(scene.store, task, { silentMs: SILENT_MS });
    expect(findings.map(({ code }) => code)).toEqual(['owner-silent', 'no-leader']);
  });

  test('a deadline that is over is told beside what is in the way', async () => {
    const id = await scene.enqueue({ deadlineMs: 1_000 });
    await scene.pass(MINUTE);
    const findings = await explained(scene.store, id, { silentMs: SILENT_MS });
    expect(findings.map(({ code }) => code)).toEqual(['no-pod', 'deadline-passed']);
  });

  test('a history that does not fit is no reason to say nothing', async () => {
    const pod = await scene.pod('alder');
    const claimed = await scene.claimNew(pod);
    const hole = { prevHash: 'no such record', lastHash: 'x', state: 'main.work', events: '[]' };
    const { task, generation, epoch } = claimed;
    const of = { task, generation, epoch };
    await scene.store.archive([{ ...of, firstSeq: 0, lastSeq: 0, ...hole }]);
    const findings = await explained(scene.store, task, { silentMs: SILENT_MS });
    expect(findings[0]!.code).toBe('running');
    expect(findingOf(findings, 'records-unreadable').evidence).toEqual([
      { text: 'FLEETQ_BROKEN_HISTORY' },
    ]);
  });

  test('whatever a person has typed into a row, something is found', async () => {
    scene.isChecked = false;
    await scene.store.register(birthOf('alder'));
    await scene.store.announce(routes);
    const rows = [
      { machine: 'no such @ machine', payload: 'not json' },
      { machine: MACHINE, version: 2_000_000_000, priority: -5 },
      { machine: MACHINE, paused: true, runAfterMs: 8_640_000_000_000 },
      { machine: MACHINE, status: 'waiting', wait_for: 'signal', runAfterMs: MINUTE },
      { machine: MACHINE, crashes: 2, generation: 9, claims: 3 },
    ];
    const codes: string[] = [];
    for (const row of rows) {
      const id = await scene.harness.insertPlain(row);
      codes.push((await explained(scene.store, id, { silentMs: SILENT_MS }))[0]!.code);
    }
    expect(codes).toEqual([
      'machine-unknown',
      'no-route',
      'paused',
      'waiting-for-other',
      'suspect',
    ]);
  });
});
