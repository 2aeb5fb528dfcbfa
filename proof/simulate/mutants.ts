/** Bugs to be planted: each breaks one rule, at a port, and the simulation has to notice. */

import type { MakeHeart } from '../../src/fleet/index.ts';
import { identityCodec, type Journal } from '../../src/journal/index.ts';
import { encodeEntry } from '../../src/journal/record.ts';
import type { Act } from '../../src/store/acts.ts';
import type { MemoryTables } from '../../src/store/memory/tables.ts';
import type { Beat } from '../../src/store/pods.ts';
import type { Store } from '../../src/store/store.ts';
import type {
  ClaimRequest,
  Segment,
  Settlement,
  TakenTask,
  Taking,
} from '../../src/store/tasks.ts';
import type { PodId } from '../../src/store/words.ts';
import { SERVER_MUTANTS } from './server-mutants.ts';

export interface Mutant {
  readonly name: string;
  /** The promises of which it may be expected to break one. */
  readonly breaks: RegExp;
  /** Carries a call out in its own way. */
  readonly changeCall?: <A>(
    tables: MemoryTables,
    verb: keyof Store,
    given: readonly unknown[],
    act: () => A,
  ) => A;
  readonly changeHeart?: (make: MakeHeart) => MakeHeart;
  /** Asked first, where few seeds come across it. */
  readonly seeds?: readonly number[];
  readonly changeJournal?: (journal: Journal) => Journal;
}

type Change = (tables: MemoryTables, given: readonly unknown[], act: () => unknown) => unknown;

/** A mutant that carries one kind of call out in its own way. */
function of(name: string, breaks: RegExp, verbs: readonly (keyof Store)[], change: Change): Mutant {
  return {
    name,
    breaks,
    changeCall: <A>(
      tables: MemoryTables,
      verb: keyof Store,
      given: readonly unknown[],
      act: () => A,
    ) => (verbs.includes(verb) ? (change(tables, given, act) as A) : act()),
  };
}

const settleWithoutFence: Mutant = {
  ...of('settle-without-fence', /^I[478]/, ['settle'], (tables, given, act) => {
    const [pod, settlements] = given as [PodId, Settlement[]];
    for (const { task, epoch } of settlements) {
      const row = tables.tasks.get(task);
      if (!row || row.finishedAt !== undefined || row.claimEpoch === epoch) continue;
      // Whoever comes is taken for the owner.
      Object.assign(row, {
        claimedBy: pod,
        status: 'claimed',
        claimEpoch: epoch,
        waitFor: undefined,
      });
    }
    return act();
  }),
  seeds: [63],
};

const takeWithoutEpoch = of('take-without-epoch', /^I[79]/, ['take'], (tables, _given, act) => {
  const taken = act() as TakenTask[];
  for (const { task } of taken) {
    const row = tables.tasks.get(task);
    if (row) row.claimEpoch -= 1;
  }
  return taken.map((task) => ({ ...task, epoch: task.epoch - 1 }));
});

const beatWithoutCompare = of(
  'beat-without-compare',
  /^I9|^pods/,
  ['beat'],
  (tables, given, act) => {
    const beat = given[0] as Beat & { seq: number };
    const row = tables.pods.get(beat.pod);
    if (!row) return act();
    const seq = row.beatSeq;
    row.beatSeq = beat.seq;
    row.beatNonce = beat.since?.[0] ?? row.beatNonce;
    const answer = act();
    row.beatSeq = Math.max(seq, row.beatSeq);
    return answer;
  },
);

/** How much older than they are the heartbeats of others look to this one. */
const EARLY_MS = 2_500;

const sweepTheLiving = of(
  'sweep-the-living',
  /^I25/,
  ['beat', 'fence', 'worklist'],
  (tables, _, act) => {
    const heard = [...tables.pods.values()].map((row) => [row, row.lastHeartbeat] as const);
    for (const [row] of heard) row.lastHeartbeat -= EARLY_MS;
    const answer = act();
    for (const [row, atMs] of heard) {
      // Whoever has just beaten has a new one.
      row.lastHeartbeat = row.lastHeartbeat === atMs - EARLY_MS ? atMs : row.lastHeartbeat;
    }
    return answer;
  },
);

/** It takes a claim that is on its way while its pod is fenced: few seeds have that. */
const claimByTheDead: Mutant = {
  ...of('claim-by-the-dead', /^fence|^structure/, ['claim'], (tables, given, act) => {
    const row = tables.pods.get((given[0] as ClaimRequest).pod);
    const status = row?.status;
    if (row) row.status = 'up';
    const answer = act();
    if (row && status) row.status = status;
    return answer;
  }),
  seeds: [116, 58, 130],
};

const tailLost = of('tail-lost', /^structure.*history|^I13/, ['settle'], (_tables, given, act) => {
  for (const settlement of given[1] as { tail?: Segment | undefined }[])
    settlement.tail = undefined;
  return act();
});

const takenDropped = of(
  'taken-dropped',
  /^I13|^structure.*history/,
  ['settle', 'archive'],
  (_tables, given, act) => {
    const items = given.find(Array.isArray) as (Segment | Settlement)[];
    const segments = items.flatMap((item) => ('events' in item ? item : (item.tail ?? [])));
    for (const segment of segments) {
      const events = JSON.parse(segment.events) as { event: string }[];
      if (events[0]?.event !== 'TAKEN' || events.length === 1) continue;
      const kept = { firstSeq: segment.firstSeq + 1, events: JSON.stringify(events.slice(1)) };
      Object.assign(segment, kept);
    }
    return act();
  },
);

const selfFenceIgnored: Mutant = {
  name: 'self-fence-ignored',
  breaks: /^I10/,
  changeHeart: (make) => (options) => {
    const heart = make(options);
    let hasBeaten = false;
    return {
      get deadlineMs() {
        hasBeaten ||= heart.deadlineMs > 0;
        return hasBeaten ? Number.POSITIVE_INFINITY : heart.deadlineMs;
      },
      ready: () => heart.ready(),
      start: () => heart.start(),
      stop: () => heart.stop(),
    };
  },
};

/** A journal whose one function is another. */
function journalWith(
  name: string,
  breaks: RegExp,
  change: (journal: Journal) => Partial<Journal>,
): Mutant {
  return {
    name,
    breaks,
    changeJournal: (journal) => {
      const changed = change(journal) as Record<PropertyKey, unknown>;
      return new Proxy(journal, {
        get: (target, key) => {
          if (key in changed) return changed[key];
          const value: unknown = Reflect.get(target, key, target);
          return typeof value === 'function' ? value.bind(target) : value;
        },
      });
    },
  };
}

const acknowledgedEarly = journalWith('acknowledged-early', /^I1[24]/, (journal) => ({
  append: (entry, prepared) => {
    const written = journal.append(entry, prepared);
    written.catch(() => undefined);
    // What it will be once it is written, told at once.
    return Promise.resolve(encodeEntry(entry, identityCodec));
  },
}));

const evidenceDropped = journalWith('evidence-dropped', /^(I29 )?I41/, () => ({
  occupy: () => undefined,
}));

/** A statement whose condition names too much: a row that nobody asked for is changed as well. */
const strayWrite = of('stray-write', /^stray/, ['settle'], (tables, given, act) => {
  const answer = act();
  const settled = new Set((given[1] as Settlement[]).map(({ task }) => task));
  const [other] = tables.tasksWhere(
    ({ taskId, status }) => status === 'claimed' && !settled.has(taskId),
  );
  if (other) other.lastSeq += 1;
  return answer;
});

const redriveTwice = of('redrive-twice', /^I30/, ['act'], (tables, given, act) => {
  const asked = given[0] as Act;
  const row = tables.tasks.get(asked.task);
  // Whatever was seen counts as the newest, and the task as ended.
  if (row && asked.deed.what === 'redrive') {
    Object.assign(asked, { ifRevision: undefined });
    if (row.status === 'pending')
      Object.assign(row, { status: 'failed', finishedAt: tables.now() });
  }
  return act();
});

/** Small seeds in which what people want paused is adopted. */
const PEOPLE_SEEDS = [188, 216, 314, 328];

const pauseIgnoredAtAdoption: Mutant = {
  ...of('pause-ignored-at-adoption', /^I40/, ['take'], (tables, given, act) => {
    const { from, to } = given[0] as Taking;
    const pausing = tables.tasksWhere(
      ({ claimedBy, control }) => to === 'taker' && claimedBy === from && control === 'pause',
    );
    for (const task of pausing) task.control = undefined;
    const taken = act();
    for (const task of pausing) if (task.claimedBy !== undefined) task.control = 'pause';
    return taken;
  }),
  seeds: PEOPLE_SEEDS,
};

/** Seeds whose runs have deadlines. */
const LIMITED_SEEDS = [6];

/** What whoever goes on with a run is told of the time it has left: waits until then are wrong, too. */
function deadlineTold(name: string, leftMs: number | undefined): Mutant {
  return {
    ...of(name, /^(deadline|I31)/, ['claim', 'take'], (_tables, _given, act) =>
      (act() as TakenTask[]).map((task) =>
        task.epoch > 1 ? { ...task, deadlineMs: leftMs } : task,
      ),
    ),
    seeds: LIMITED_SEEDS,
  };
}

const deadlineForgotten = deadlineTold('deadline-forgotten', 86_400_000);
/** Told nothing, it has all the time that its machine allows, from now on. */
const deadlineRecounted = deadlineTold('deadline-recounted', undefined);

const deadlineMoved: Mutant = {
  ...of('deadline-moved', /^deadline/, ['take'], (tables, _given, act) => {
    const taken = act() as TakenTask[];
    for (const { task } of taken) {
      const row = tables.tasks.get(task);
      if (row?.deadlineAt) row.deadlineAt = tables.now() + (row.deadlineAt - row.begunAt);
    }
    return taken;
  }),
  seeds: LIMITED_SEEDS,
};

export const MUTANTS: readonly Mutant[] = [
  settleWithoutFence,
  takeWithoutEpoch,
  // Other rules, of what comes of it, may notice sooner: these seeds show the rule itself.
  { ...beatWithoutCompare, seeds: [16, 22] },
  { ...sweepTheLiving, seeds: [11, 20] },
  claimByTheDead,
  tailLost,
  takenDropped,
  selfFenceIgnored,
  acknowledgedEarly,
  evidenceDropped,
  strayWrite,
  redriveTwice,
  pauseIgnoredAtAdoption,
  deadlineForgotten,
  deadlineRecounted,
  deadlineMoved,
  ...SERVER_MUTANTS,
];
