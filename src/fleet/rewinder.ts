/**
 * Another server has taken over, and may not have what the one before had said (I23). What this pod was
 * told lately is looked up there, and what is missing is written again where nobody has been at it since:
 *
 *   outcome      row is still ours ─────────────▶ settled again
 *                row is open, epoch below ours ─▶ the claim is restored, then settled
 *                row is another's by now ───────▶ overtaken: said aloud
 *                row is not there ──────────────▶ lost with its task: said aloud
 *   claim        row is open, epoch below ours ─▶ restored, and the run goes on
 *                its records are nowhere ───────▶ not restored: whoever gets it begins anew
 *   records      the store has fewer than it said ─▶ archived again, from the journal, or as they were read
 *   history      of an outcome has a hole ──────▶ what came before its last records is archived again
 *   enqueue      row is not there ──────────────▶ lost: said aloud
 */
import type { Clock, RunId } from '../ground/index.ts';
import {
  type Claim,
  type Flush,
  type PodId,
  type Segment,
  type Settlement,
  type Store,
  StoreBusyError,
  type TaskRow,
} from '../store/index.ts';
import { type FleetqEvents, tell } from '../telemetry/events.ts';
import type { HeldRun } from './held-run.ts';
import type { Holdings } from './holdings.ts';
import type { Acknowledged, Memory } from './memory.ts';
import {
  beforeOf,
  hasBeginning,
  inherited,
  isOpen,
  lackOf,
  verdictOf,
  type Written,
} from './rewind-verdict.ts';

const PAGE_COUNT = 500;
const NAMED_MAX = 100;

export interface RewinderPorts {
  readonly store: Pick<Store, 'find' | 'histories' | 'restore' | 'settle' | 'archive'>;
  readonly clock: Clock;
  readonly pod: PodId;
  /** Another life of this pod looks by now, and keeps what was told. */
  readonly isOver: () => boolean;
  readonly holdings: Holdings;
  readonly written: Written;
  readonly memory: Memory;
  /** What this process was lately told to be enqueued. */
  readonly enqueued: () => readonly RunId[];
  /** The fleet has lost sight of runs of this host; of these, or of any that have ended. */
  readonly reshow: (runs: readonly RunId[]) => void;
}

type Told = FleetqEvents['store.rewound'];
type Counts = { -readonly [K in Exclude<keyof Told, 'pod' | 'tasks'>]: number };

export class Rewinder {
  readonly #ports: RewinderPorts;

  constructor(ports: RewinderPorts) {
    this.#ports = ports;
  }

  /** The store has said that it has this. */
  acknowledged = (settlement: Settlement, held: HeldRun): void => {
    const { store, pod, written } = this.#ports;
    if (!store.restore) return;
    this.#keep({ settlement, before: beforeOf(settlement, held, written), pod });
  };

  #keep(told: Acknowledged): void {
    const { memory, clock } = this.#ports;
    const { settlement, before } = told;
    const parts = settlement.tail ? [settlement.tail, ...before] : before;
    const size = parts.reduce((sum, { events }) => sum + events.length, 300);
    memory.settled.add(settlement.task, told, size, clock.monotonicMs());
  }

  /** The server that said so is still there. */
  confirmed(): void {
    this.#ports.memory.settled.prune(this.#ports.clock.monotonicMs());
  }

  /** To be called while no claim is on its way. */
  async verify(timeline: string): Promise<void> {
    const found = new Finding(timeline);
    await this.#verifyOutcomes(found);
    await this.#verifyHeld(found);
    await this.#verifyEnqueued(found);
    this.#ports.reshow([]);
    found.tell(this.#ports.pod);
  }

  async #verifyOutcomes(found: Finding): Promise<void> {
    for (const kept of pagesOf([...this.#ports.memory.settled.all().values()])) {
      const rows = await this.#rows(kept.map(({ settlement }) => settlement.task));
      await this.#closeHoles(kept, rows, found);
      const missing: Settlement[] = [];
      const claims: Settlement[] = [];
      for (const told of kept) {
        const row = rows.get(told.settlement.task);
        const verdict = row ? verdictOf(row, told.settlement, this.#ports.pod) : 'gone';
        const settlement = inherited(told, this.#ports.pod);
        if (verdict === 'open' && settlement !== told.settlement) {
          this.#keep({ ...told, settlement, pod: this.#ports.pod });
        }
        if (verdict === 'gone') found.add('outcomesLost', settlement.task);
        else if (verdict === 'overtaken') found.add('outcomesOvertaken', settlement.task);
        else if (verdict !== 'stands') missing.push(settlement);
        if (verdict === 'open') claims.push(settlement);
      }
      const whole = await this.#whole(missing);
      const restored = new Set(await this.#restore(claims.filter((claim) => whole.has(claim))));
      const isOurs = (settlement: Settlement) =>
        !claims.includes(settlement) || restored.has(settlement.task);
      const again = missing.filter((settlement) => whole.has(settlement) && isOurs(settlement));
      for (const settlement of missing) {
        if (!again.includes(settlement)) found.add('outcomesLost', settlement.task);
      }
      await this.#settleAgain(again, found);
    }
  }

  /** Also of those that were settled on this server, before anybody knew that it had lost something. */
  async #closeHoles(
    kept: readonly Acknowledged[],
    rows: ReadonlyMap<RunId, TaskRow>,
    found: Finding,
  ): Promise<void> {
    const begun = kept.filter(
      ({ before, settlement: { task, generation } }) =>
        before.length > 0 && rows.get(task)?.generation === generation,
    );
    const stored = await this.#stored(begun.map(({ settlement }) => settlement));
    const lacking = begun.filter(
      ({ settlement }) => !hasBeginning(settlement, stored.get(settlement.task)),
    );
    const missing = lacking.flatMap(({ before }) => before);
    await this.#archiveAgain(missing, found);
  }

  async #archiveAgain(missing: readonly Flush[], found: Finding): Promise<void> {
    if (missing.length > 0) await this.#heard(this.#ports.store.archive(missing, found.timeline));
    for (const task of new Set(missing.map((one) => one.task))) found.add('recordsWritten', task);
  }

  async #settleAgain(again: readonly Settlement[], found: Finding): Promise<void> {
    if (again.length === 0) return;
    const { store, pod } = this.#ports;
    const answers = await this.#heard(store.settle(pod, again, found.timeline));
    // Before each has its answer nobody knows what to make of the claim that it ends.
    if (answers.some(({ kind }) => kind === 'locked')) throw new StoreBusyError('a row is locked');
    for (const { task, kind } of answers) {
      found.add(kind === 'stood' || kind === 'done' ? 'outcomesWritten' : 'outcomesLost', task);
    }
  }

  /** Those whose history the store has up to where their last records begin. */
  async #whole(settlements: readonly Settlement[]): Promise<ReadonlySet<Settlement>> {
    const stored = await this.#stored(settlements);
    return new Set(settlements.filter((one) => hasBeginning(one, stored.get(one.task))));
  }

  async #verifyHeld(found: Finding): Promise<void> {
    const { holdings, written, reshow } = this.#ports;
    for (const page of pagesOf([...holdings.all()])) {
      const rows = await this.#rows(page.map(({ claim }) => claim.task));
      const stored = await this.#stored(page.map(({ claim }) => claim));
      const lacks = new Map(
        page.map((held) => [held, lackOf(held, stored.get(held.claim.task), written)]),
      );
      // What nobody here can write again has to be begun anew: whoever had it settles it no more.
      const open = page.filter(
        (held) => isOpen(rows.get(held.claim.task), held.claim) && lacks.get(held) !== undefined,
      );
      const claims = open.map(({ claim }) => claim);
      for (const task of await this.#restore(claims)) found.add('claimsRestored', task);
      const gone = page.filter(({ isMirror, claim }) => isMirror && !rows.has(claim.task));
      for (const held of gone) {
        held.isOver = true;
        holdings.remove(held);
      }
      if (gone.length > 0) reshow(gone.map(({ claim }) => claim.task));
      const missing = page.flatMap((held) => (gone.includes(held) ? [] : (lacks.get(held) ?? [])));
      await this.#archiveAgain(missing, found);
    }
  }

  async #verifyEnqueued(found: Finding): Promise<void> {
    for (const page of pagesOf(this.#ports.enqueued())) {
      const rows = await this.#rows(page);
      for (const task of page) if (!rows.has(task)) found.add('enqueuesLost', task);
    }
  }

  async #rows(tasks: readonly RunId[]): Promise<ReadonlyMap<RunId, TaskRow>> {
    if (tasks.length === 0) return new Map();
    const rows = await this.#heard(this.#ports.store.find(tasks));
    return new Map(rows.map((row) => [row.id, row]));
  }

  async #stored(runs: readonly Claim[]): Promise<ReadonlyMap<RunId, readonly Segment[]>> {
    if (runs.length === 0) return new Map();
    const asked = runs.map(({ task, generation }) => ({ task, generation }));
    const byTask = new Map<RunId, Segment[]>();
    for (const segment of await this.#heard(this.#ports.store.histories(asked))) {
      const before = byTask.get(segment.task);
      if (before) before.push(segment);
      else byTask.set(segment.task, [segment]);
    }
    return byTask;
  }

  async #restore(claims: readonly Claim[]): Promise<RunId[]> {
    const { store, pod } = this.#ports;
    const asked = claims.map(({ task, generation, epoch }) => ({ task, generation, epoch }));
    if (asked.length === 0 || !store.restore) return [];
    return this.#heard(store.restore(pod, asked));
  }

  async #heard<Answer>(asked: Promise<Answer>): Promise<Answer> {
    const answer = await asked;
    if (this.#ports.isOver()) throw new StoreBusyError('another life of this pod goes on');
    return answer;
  }
}

class Finding {
  readonly #counts: Counts = {
    enqueuesLost: 0,
    outcomesLost: 0,
    outcomesOvertaken: 0,
    outcomesWritten: 0,
    claimsRestored: 0,
    recordsWritten: 0,
  };
  readonly #tasks = new Set<RunId>();

  readonly timeline: string;

  constructor(timeline: string) {
    this.timeline = timeline;
  }

  add(what: keyof Counts, task: RunId): void {
    this.#counts[what] += 1;
    if (this.#tasks.size < NAMED_MAX) this.#tasks.add(task);
  }

  tell(pod: PodId): void {
    if (Object.values(this.#counts).every((count) => count === 0)) return;
    tell('store.rewound', () => ({ pod, ...this.#counts, tasks: [...this.#tasks] }));
  }
}

function* pagesOf<T>(all: readonly T[]): Iterable<readonly T[]> {
  for (let from = 0; from < all.length; from += PAGE_COUNT)
    yield all.slice(from, from + PAGE_COUNT);
}
