/**
 * I40: every change that people make has a request id, is made once, only to what was seen, and leaves
 * a row in the audit log; and what becomes of each deed in each state of a task.
 */
import { expect, test } from 'vitest';
import type { RunId } from '../../src/ground/index.ts';
import { type ActAnswer, type Deed, revisionOf } from '../../src/store/acts.ts';
import type { PodId } from '../../src/store/words.ts';
import { actOf, doTo, wordOf } from './acts.ts';
import {
  cancelled,
  completed,
  failed,
  HOUR,
  hashAt,
  MACHINE,
  MINUTE,
  newId,
  parked,
  released,
  segment,
} from './factories.ts';
import type { Scene } from './harness.ts';

/** Every state a task can be in when somebody does something to it. */
const STATES = [
  ...['pending', 'soon', 'time', 'retry', 'sleep', 'version', 'key', 'signal', 'paused'],
  ...['told', 'claimed', 'asked to pause', 'asked to end', 'local', 'its host is gone'],
  ...['completed', 'failed', 'discarded', 'cancelled'],
] as const;
type State = (typeof STATES)[number];

/** One that is somebody's, and one that has ended. */
const SOME_STATES: readonly State[] = ['claimed', 'failed'];

const DEEDS: Readonly<Record<Exclude<Deed['what'], 'fork'> | 'redrive afresh', Deed>> = {
  cancel: { what: 'cancel', reason: 'not wanted' },
  pause: { what: 'pause' },
  resume: { what: 'resume' },
  retry: { what: 'retry' },
  reschedule: { what: 'reschedule', due: { afterMs: 2 * HOUR } },
  redrive: { what: 'redrive', isFresh: false },
  'redrive afresh': { what: 'redrive', isFresh: true },
  discard: { what: 'discard' },
};

/** What each is answered, in the order of the deeds above. */
const ANSWERS: Readonly<Record<State, string>> = {
  pending: 'done done already already done unfinished unfinished unfinished',
  soon: 'done done already done done unfinished unfinished unfinished',
  time: 'done done already done done unfinished unfinished unfinished',
  retry: 'done done already done done unfinished unfinished unfinished',
  sleep: 'done done already unfit done unfinished unfinished unfinished',
  version: 'done done already done unfit unfinished unfinished unfinished',
  key: 'done done already done unfit unfinished unfinished unfinished',
  signal: 'done done already unfit unfit unfinished unfinished unfinished',
  paused: 'done already done unfit done unfinished unfinished unfinished',
  told: 'ended ended already already done unfinished unfinished unfinished',
  claimed: 'requested requested already held held unfinished unfinished unfinished',
  'asked to pause': 'requested requested done held held unfinished unfinished unfinished',
  'asked to end': 'requested unfit already held held unfinished unfinished unfinished',
  local: 'requested unfit already held held unfinished unfinished unfinished',
  'its host is gone': 'done unfit already unfit unfit unfinished unfinished unfinished',
  completed: 'ended ended ended ended ended unfit done unfit',
  failed: 'ended ended ended ended ended done done done',
  discarded: 'ended ended ended ended ended done done already',
  cancelled: 'already ended ended ended ended done done unfit',
};

export function describeActs(scene: Scene): void {
  let pod: PodId;
  const claimed = async () => (await scene.claimNew(pod)).task;
  const left = async (leave: (claim: Awaited<ReturnType<Scene['claimNew']>>) => object) => {
    const claim = await scene.claimNew(pod);
    await scene.store.settle(pod, [leave(claim) as ReturnType<typeof completed>]);
    return claim.task;
  };
  const after = async (make: Promise<RunId>, what: Deed) => {
    const task = await make;
    await doTo(scene.store, task, what);
    return task;
  };
  const mirrored = async () => {
    const run = { id: newId(), machine: MACHINE, version: 1, payload: '{}' };
    const given = { ...run, journal: 'journal-alder', deadlineMs: HOUR, startedAgoMs: 0 };
    await scene.store.mirror(pod, [given]);
    return run.id;
  };
  const MAKE: Readonly<Record<State, () => Promise<RunId>>> = {
    pending: () => scene.enqueue(),
    soon: async () =>
      (await scene.harness.insertPlain({ machine: MACHINE, runAfterMs: HOUR })) as RunId,
    time: () => scene.enqueue({ due: { afterMs: HOUR } }),
    retry: () => left((claim) => parked(claim, 'retry', HOUR)),
    sleep: () => left((claim) => parked(claim, 'sleep', HOUR)),
    version: () => left((claim) => parked(claim, 'version', HOUR)),
    key: () => left((claim) => parked(claim, 'key', HOUR)),
    signal: () => left((claim) => parked(claim, 'signal', HOUR)),
    paused: () => after(scene.enqueue({ due: { afterMs: HOUR } }), { what: 'pause' }),
    told: () =>
      left((claim) => {
        return released(claim, { tail: { ...segment(claim, 0, 3), state: 'completed' } });
      }),
    claimed,
    'asked to pause': () => after(claimed(), { what: 'pause' }),
    'asked to end': () => after(claimed(), { what: 'cancel', reason: 'no' }),
    local: mirrored,
    'its host is gone': async () => {
      const task = await mirrored();
      await scene.kill(pod);
      const taking = { from: pod, by: pod, to: 'pool', crashed: 'none', spreadMs: 0 } as const;
      await scene.store.take({ ...taking, countMax: 10 });
      return task;
    },
    completed: () => left((claim) => completed(claim)),
    failed: () => left((claim) => failed(claim)),
    discarded: () =>
      after(
        left((claim) => failed(claim)),
        { what: 'discard' },
      ),
    cancelled: () => left((claim) => cancelled(claim)),
  };
  const all = async (task: RunId) => ({
    row: await scene.rawRow(task),
    audit: await scene.rowCount('audit_log'),
    events: await scene.rowCount('run_events'),
  });

  const states = scene.harness.sharesRules ? SOME_STATES : STATES;
  for (const state of states) {
    for (const [index, [name, deed]] of Object.entries(DEEDS).entries()) {
      const wanted = ANSWERS[state].split(' ')[index]!;
      test(`I40: ${name}, where it is ${state}: ${wanted}`, async () => {
        pod = await scene.pod('alder');
        const task = await MAKE[state]();
        const before = await scene.row(task);
        const was = await all(task);
        const act = actOf(task, deed);

        // Nothing is changed by asking what would be.
        const dry = await scene.store.act({ ...act, isDryRun: true });
        expect(wordOf(dry)).toBe(wanted);
        expect(await all(task)).toEqual(was);

        const answer = await scene.store.act(act);
        expect(wordOf(answer)).toBe(wanted);
        const row = await scene.row(task);
        if (answer.kind === 'refused') {
          expect(answer.now).toMatchObject({ status: before.status, revision: revisionOf(before) });
          expect(answer.detail).not.toBe('');
          expect(await all(task)).toEqual(was);
          return;
        }
        expect({ ...dry, isDryRun: false }).toMatchObject(untimed(answer));
        expect(answer.before).toEqual(glimpse(before));
        expect(answer.after).toEqual(glimpse(row));
        if (wanted === 'already') expect(row).toEqual(before);
        await expectLogged(task, act.requestId, deed.what);

        // The answer was lost: it is sent again, by another way, and done once.
        const now = await all(task);
        const again = await scene.rival.act(act);
        expect(again).toEqual({ ...answer, isRepeated: true });
        expect(await all(task)).toEqual(now);
      });
    }
  }

  const expectLogged = async (task: RunId, id: string, what: string) => {
    const rows = await scene.harness.rows('audit_log');
    const row = rows.find((one) => one['id'] === id);
    expect(row).toMatchObject({ who: 'ann', what, task_id: task });
    expect(JSON.parse(row!['detail'] as string)).toMatchObject({ via: 'test' });
  };

  test('I40: a request id stands for one deed to one task', async () => {
    const [one, other] = [await scene.enqueue(), await scene.enqueue()];
    const act = actOf(one, { what: 'pause' });
    const seen = revisionOf(await scene.row(one));
    expect(wordOf(await scene.store.act(act))).toBe('done');
    const others = [
      { ...act, task: other },
      { ...act, deed: { what: 'resume' } as const },
      { ...act, deed: { what: 'cancel', reason: 'x' } as const },
      { ...act, ifRevision: revisionOf(await scene.row(one)) },
    ];
    for (const reused of others) {
      expect(await scene.rival.act(reused)).toMatchObject({ kind: 'refused', why: 'reused' });
    }
    // Another process asks again for one that has died.
    const before = { ifRevision: seen, who: 'bob' };
    expect(await scene.rival.act({ ...act, ...before })).toMatchObject({ isRepeated: true });
    expect(await scene.row(one)).toMatchObject({ status: 'pending', isPaused: true });
    expect(await scene.row(other)).toMatchObject({ status: 'pending', isPaused: false });
    expect(await scene.rowCount('audit_log')).toBe(1);
  });

  test('I40: one request by many at once is done once, to one task', async () => {
    const tasks = await Promise.all(Array.from({ length: 6 }, () => scene.enqueue()));
    const act = actOf(tasks[0]!, { what: 'cancel', reason: 'enough' });
    const answers = await Promise.all(
      tasks.flatMap((task, index) => {
        const store = index % 2 === 0 ? scene.store : scene.rival;
        return [store.act({ ...act, task }), store.act({ ...act, task })];
      }),
    );
    const done = answers.filter((answer) => answer.kind === 'done');
    expect(done).toHaveLength(2);
    expect(done.filter(isRepeated)).toHaveLength(1);
    expect(answers.filter((answer) => wordOf(answer) === 'reused')).toHaveLength(10);
    const rows = await Promise.all(tasks.map((task) => scene.row(task)));
    expect(rows.filter(({ status }) => status === 'cancelled')).toHaveLength(1);
    expect(await scene.rowCount('audit_log')).toBe(1);
  });

  test('I40: what has changed hands since it was seen is left as it is', async () => {
    pod = await scene.pod('alder');
    const task = await scene.enqueue();
    const ifRevision = revisionOf(await scene.row(task));
    const claim = await scene.claimOne(pod);
    const word = () => doTo(scene.store, task, { what: 'cancel', reason: 'x' }, { ifRevision });
    expect(await word()).toBe('revision');
    await scene.store.settle(pod, [failed(claim)]);
    const seen = { ifRevision: revisionOf(await scene.row(task)) };
    expect(await doTo(scene.store, task, DEEDS.redrive, seen)).toBe('done');
    expect(await doTo(scene.rival, task, DEEDS.redrive, seen)).toBe('revision');
    expect(await scene.row(task)).toMatchObject({ status: 'pending', generation: 2 });
    expect(await scene.rowCount('audit_log')).toBe(1);
  });

  test('I40: there is nothing to do to a task that is not there', async () => {
    for (const deed of Object.values(DEEDS)) {
      expect(await doTo(scene.store, newId(), deed)).toBe('unknown');
    }
    expect(await scene.rowCount('audit_log')).toBe(0);
  });

  test('I40: who asks, and by what request, is said in few words, and in words that can be kept', async () => {
    const task = await scene.enqueue();
    const long = 'x'.repeat(201);
    const deed = { what: 'pause' } as const;
    const bad = [{ who: '' }, { who: long }, { requestId: '' }, { requestId: long }, { via: long }];
    for (const words of [...bad, { who: `ann${scene.harness.poison}` }]) {
      await expect(scene.store.act(actOf(task, deed, words))).rejects.toMatchObject({
        code: 'FLEETQ_STORE_REFUSED',
      });
    }
    // Trying it out says the same.
    for (const isDryRun of [true, false]) {
      for (const reason of ['x'.repeat(1_001), 'a\0b']) {
        const act = actOf(task, { what: 'cancel', reason }, { isDryRun });
        await expect(scene.store.act(act)).rejects.toMatchObject({ code: 'FLEETQ_STORE_REFUSED' });
      }
    }
    for (const of of ['the-run-of-somebody', `${task}\0`, 'x'.repeat(3_000)]) {
      const note = { requestId: 'n', who: 'ann', what: 'reveal', task: of as RunId, detail: {} };
      await expect(scene.store.note(note)).rejects.toMatchObject({ code: 'FLEETQ_STORE_REFUSED' });
    }
    expect(await scene.rowCount('audit_log')).toBe(0);
    expect(await scene.row(task)).toMatchObject({ status: 'pending', isPaused: false });
  });

  test('a redrive with another input begins afresh with that', async () => {
    pod = await scene.pod('alder');
    const claim = await scene.claimNew(pod, { payload: '{"n":1}' });
    await scene.store.settle(pod, [completed(claim, { tail: segment(claim, 0, 3) })]);
    const deed = { what: 'redrive', isFresh: false, payload: '{"n":2}' } as const;
    expect(await doTo(scene.store, claim.task, deed)).toBe('done');
    const next = await scene.claimOne(pod);
    expect(next).toMatchObject({ payload: '{"n":2}', generation: 2, keyGeneration: 2 });
    expect(next.carriesFrom).toBeUndefined();
    const [logged] = await scene.harness.rows('audit_log');
    expect(logged!['detail']).not.toContain('"n":2');
  });

  test('a task that is paused is claimed by nobody until it is resumed', async () => {
    pod = await scene.pod('alder');
    const [pending, waiting] = [
      await scene.enqueue(),
      await scene.enqueue({ due: { afterMs: 1 } }),
    ];
    for (const task of [pending, waiting]) await doTo(scene.store, task, { what: 'pause' });
    await scene.pass(HOUR);
    expect(await scene.claim(pod)).toEqual([]);
    for (const task of [pending, waiting]) await doTo(scene.rival, task, { what: 'resume' });
    expect(await scene.claim(pod)).toHaveLength(2);
  });

  test('a pause that was asked for while it ran holds however its owner lets go of it', async () => {
    pod = await scene.pod('alder');
    const claims = [
      await scene.claimNew(pod, { deadlineMs: HOUR }),
      await scene.claimNew(pod),
      await scene.claimNew(pod),
    ];
    for (const { task } of claims) await doTo(scene.store, task, { what: 'pause' });
    const [a, b, c] = claims;
    await scene.store.settle(pod, [released(a!), parked(b!, 'retry', MINUTE), completed(c!)]);
    await scene.pass(2 * MINUTE);
    expect(await scene.claim(pod)).toEqual([]);
    expect(await scene.row(a!.task)).toMatchObject({ status: 'pending', isPaused: true });
    expect(await scene.row(b!.task)).toMatchObject({ status: 'waiting', isPaused: true });
    // One that has ended meanwhile has nothing to be paused.
    expect(await scene.row(c!.task)).toMatchObject({ status: 'completed', isPaused: false });
    // Its deadline goes on.
    expect((await scene.row(a!.task)).deadlineAt).toBeLessThan(scene.harness.now() + HOUR);
    expect(await doTo(scene.store, a!.task, DEEDS.cancel)).toBe('done');
    expect(await doTo(scene.store, b!.task, { what: 'resume' })).toBe('done');
    expect((await scene.claimOne(pod)).task).toBe(b!.task);
  });

  test('a pause outlives the pod that was asked for it, wherever its task goes', async () => {
    pod = await scene.pod('alder');
    const claims = [];
    for (let n = 0; n < 4; n++) claims.push(await scene.claimNew(pod));
    for (const { task } of claims) await doTo(scene.store, task, { what: 'pause' });
    const ended = claims[2]!;
    await scene.store.archive([{ ...segment(ended, 0, 3), state: 'completed' }]);
    await scene.store.archive([{ ...segment(claims[3]!, 0, 3), state: 'completed' }]);
    const heir = await scene.pod('birch');
    await scene.kill(pod);
    const taking = { from: pod, by: heir, crashed: [], spreadMs: 0, countMax: 1 } as const;
    const [adopted] = await scene.store.take({ ...taking, to: 'taker' });
    const [swept] = await scene.store.take({ ...taking, to: 'pool' });
    for (const taken of [adopted!, swept!]) {
      expect(taken).toMatchObject({ status: 'pending', control: undefined });
      const row = await scene.row(taken.task);
      expect(row).toMatchObject({ status: 'pending', isPaused: true, crashes: 0 });
      expect(row.control).toBeUndefined();
    }
    expect(await scene.claim(heir)).toEqual([]);
    // What has told its end has nothing left to be paused: whoever gets it says how it ended.
    const [told] = await scene.store.take({ ...taking, to: 'taker' });
    expect(told).toMatchObject({ task: ended.task, status: 'claimed' });
    const [pooled] = await scene.store.take({ ...taking, to: 'pool' });
    expect(await scene.row(pooled!.task)).toMatchObject({ status: 'pending', isPaused: false });
    // Whether a phase was open when it was left is for whoever goes on with it to find out.
    await doTo(scene.store, adopted!.task, { what: 'resume' });
    const next = await scene.claim(heir);
    expect(next.find(({ task }) => task === adopted!.task)).toMatchObject({ interruption: 'cut' });
  });

  test('where only what is paused is taken, the rest is left to whoever comes next', async () => {
    pod = await scene.pod('alder');
    const [a, b] = [await scene.claimNew(pod), await scene.claimNew(pod)];
    await doTo(scene.store, b.task, { what: 'pause' });
    await scene.store.fence(pod, pod, 'proved');
    const taking = { from: pod, by: pod, to: 'pool', crashed: 'none', spreadMs: 0 } as const;
    const taken = await scene.store.take({ ...taking, countMax: 9, only: 'paused' });
    expect(taken).toMatchObject([{ task: b.task, status: 'pending', crashes: 0 }]);
    expect(await scene.row(b.task)).toMatchObject({ isPaused: true });
    expect(await scene.row(a.task)).toMatchObject({ status: 'claimed', claimedBy: pod });
  });

  test('a pause that was taken back is forgotten, though its owner has heard of it', async () => {
    pod = await scene.pod('alder');
    const claim = await scene.claimNew(pod);
    expect(await doTo(scene.store, claim.task, { what: 'pause' })).toBe('requested');
    expect(await doTo(scene.store, claim.task, { what: 'resume' })).toBe('done');
    await scene.store.settle(pod, [released(claim)]);
    expect((await scene.claimOne(pod)).task).toBe(claim.task);
  });

  test('whoever holds a task hears with its heartbeat that it is to pause', async () => {
    pod = await scene.pod('alder');
    const claim = await scene.claimNew(pod);
    await doTo(scene.store, claim.task, { what: 'pause' });
    const answer = await scene.store.beat({ pod, seq: 0, nonce: 'n', lsn: 0, report: {} } as never);
    const controls = 'controls' in answer ? answer.controls : [];
    expect(controls).toMatchObject([{ task: claim.task, epoch: claim.epoch, control: 'pause' }]);
  });

  test('a fork is a task of its own that goes on from the records it was given', async () => {
    pod = await scene.pod('alder');
    const options = { key: 'k', priority: 3, queue: 'q', retriesMax: 4, deadlineMs: HOUR };
    const claim = await scene.claimNew(pod, options);
    await scene.store.settle(pod, [completed(claim, { tail: segment(claim, 0, 5) })]);
    const before = await scene.row(claim.task);
    const as = newId();
    const { events: records } = segment({ task: as, generation: 1, epoch: 1 }, 0, 2);
    const lastHash = hashAt(as, 2);
    const beginning = { records, lastSeq: 2, lastHash, state: 'main.work' };
    const act = actOf(claim.task, { what: 'fork', as, payload: '{"n":2}', ...beginning });
    expect(await scene.store.act(act)).toMatchObject({ kind: 'done', made: as });
    // Whoever sends it again may have another id in mind by then.
    const again = { ...act, deed: { ...act.deed, as: newId() } as Deed };
    expect(await scene.rival.act(again)).toMatchObject({ isRepeated: true, made: as });

    expect(await scene.row(claim.task)).toEqual(before);
    const next = await scene.claimOne(pod);
    expect(next).toMatchObject({ task: as, generation: 1, keyGeneration: 1, lastSeq: 2, lastHash });
    expect(next).toMatchObject({ payload: '{"n":2}', retriesMax: 4, version: 1 });
    expect(next.key).toBeUndefined();
    expect(next.deadlineMs).toBeGreaterThan(HOUR - MINUTE);
    expect(await scene.row(as)).toMatchObject({ priority: 3, queue: 'q' });
    const [history] = await scene.store.histories([{ task: as, generation: 1 }]);
    expect(history).toMatchObject({ firstSeq: 0, lastSeq: 2, prevHash: '', events: records });
    expect(history!.epoch).toBeLessThan(next.epoch);
    await expectLogged(claim.task, act.requestId, 'fork');
    const taken = actOf(claim.task, { ...act.deed, as: claim.task } as Deed);
    await expect(scene.store.act(taken)).rejects.toMatchObject({ code: 'FLEETQ_STORE_REFUSED' });
  });
}

function isRepeated(answer: ActAnswer): boolean {
  return 'isRepeated' in answer && answer.isRepeated;
}

function glimpse(row: Awaited<ReturnType<Scene['row']>>) {
  const { status, isPaused, runAt } = row;
  return { status, isPaused, runAt, revision: revisionOf(row) };
}

/** Without what depends on when it was asked. */
function untimed(answer: Exclude<ActAnswer, { readonly kind: 'refused' }>) {
  const { runAt: _, ...later } = answer.after;
  return { ...answer, after: later };
}
