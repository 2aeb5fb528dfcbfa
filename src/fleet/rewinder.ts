/**
 * Another server has taken over, and may not have what the one before had said (I23). What this pod was
 * told lately is looked up there, and what is missing is written again where nobody has been at it since:
 *
 *   outcome      row is still ours ─────────────▶ settled again
 *                row is open, epoch below ours ─▶ the claim is restored, then settled
 *                row is another's by now ───────▶ overtaken: said aloud
 *                row is not there ──────────────▶ lost with its task: said aloud
 *   claim        row is open, epoch below ours ─▶ restored, and the run goes on
 *   records      the store has fewer than it said ─▶ archived again, from the journal
 *   enqueue      row is not there ──────────────▶ lost: said aloud
 */
import type { WrittenRecord } from '../engine/index.ts';
import type { Clock, RunId } from '../ground/index.ts';
import type { Claim, Flush, Head, PodId, Settlement, Store, TaskRow } from '../store/index.ts';
import { type FleetqEvents, tell } from '../telemetry/events.ts';
import type { HeldRun } from './held-run.ts';
import { segmentOf } from './history.ts';
import type { Holdings } from './holdings.ts';
import { Recent } from './recent.ts';

const PAGE_COUNT = 500;
const NAMED_MAX = 100;

export interface RewinderPorts {
  readonly store: Pick<Store, 'find' | 'heads' | 'restore' | 'settle' | 'archive'>;
  readonly clock: Clock;
  readonly pod: PodId;
  readonly holdings: Holdings;
  /** A run's records on this disk. */
  readonly written: (run: RunId) => readonly WrittenRecord[];
  /** What this process was lately told to be enqueued. */
  readonly enqueued: () => readonly RunId[];
  /** The fleet has lost sight of runs of this host; of these, or of any that have ended. */
  readonly reshow: (runs: readonly RunId[]) => void;
}

type Told = FleetqEvents['store.rewound'];
type Counts = { -readonly [K in Exclude<keyof Told, 'pod' | 'tasks'>]: number };

export class Rewinder {
  readonly #ports: RewinderPorts;
  readonly #settled = new Recent<Settlement>();

  constructor(ports: RewinderPorts) {
    this.#ports = ports;
  }

  /** The store has said that it has this. */
  acknowledged(settlement: Settlement): void {
    const { store, clock } = this.#ports;
    if (!store.restore) return;
    const size = 300 + (settlement.tail?.events.length ?? 0);
    this.#settled.add(settlement.task, settlement, size, clock.monotonicMs());
  }

  /** The server that said so is still there. */
  confirmed(): void {
    this.#settled.prune(this.#ports.clock.monotonicMs());
  }

  /** To be called while no claim is on its way. */
  async verify(): Promise<void> {
    const found = new Finding();
    await this.#verifyOutcomes(found);
    await this.#verifyHeld(found);
    await this.#verifyEnqueued(found);
    this.#ports.reshow([]);
    found.tell(this.#ports.pod);
  }

  async #verifyOutcomes(found: Finding): Promise<void> {
    for (const page of pagesOf([...this.#settled.all().values()])) {
      const rows = await this.#rows(page.map(({ task }) => task));
      const missing: Settlement[] = [];
      const claims: Settlement[] = [];
      for (const settlement of page) {
        const row = rows.get(settlement.task);
        const verdict = row ? verdictOf(row, settlement, this.#ports.pod) : 'gone';
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

  async #settleAgain(again: readonly Settlement[], found: Finding): Promise<void> {
    if (again.length === 0) return;
    const { store, pod } = this.#ports;
    const stood = (await store.settle(pod, again)).filter(
      ({ kind }) => kind === 'stood' || kind === 'done',
    );
    for (const { task } of stood) found.add('outcomesWritten', task);
  }

  /** Those whose history the store has up to where their last records begin. */
  async #whole(settlements: readonly Settlement[]): Promise<ReadonlySet<Settlement>> {
    const heads = await this.#heads(settlements);
    return new Set(
      settlements.filter(({ task, tail, lastSeq, lastHash }) => {
        const head = heads.get(task);
        const from = tail ? tail.firstSeq - 1 : lastSeq;
        const hash = tail ? tail.prevHash : lastHash;
        return from < 0 || (head?.lastSeq === lastSeq && head.lastHash === lastHash)
          ? true
          : head?.lastSeq === from && head.lastHash === hash;
      }),
    );
  }

  async #verifyHeld(found: Finding): Promise<void> {
    const { holdings, store, written, reshow } = this.#ports;
    for (const page of pagesOf([...holdings.all()])) {
      const rows = await this.#rows(page.map(({ claim }) => claim.task));
      const open = page.filter(({ claim }) => isOpen(rows.get(claim.task), claim));
      const claims = open.map(({ claim }) => claim);
      for (const task of await this.#restore(claims)) found.add('claimsRestored', task);
      const gone = page.filter(({ isMirror, claim }) => isMirror && !rows.has(claim.task));
      for (const held of gone) {
        held.isOver = true;
        holdings.remove(held);
      }
      if (gone.length > 0) reshow(gone.map(({ claim }) => claim.task));
      const heads = await this.#heads(page.map(({ claim }) => claim));
      const missing = page
        .filter((held) => !gone.includes(held))
        .map((held) => missingOf(held, heads.get(held.claim.task), written))
        .filter((segment) => segment !== undefined);
      if (missing.length > 0) await store.archive(missing);
      for (const { task } of missing) found.add('recordsWritten', task);
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
    return new Map((await this.#ports.store.find(tasks)).map((row) => [row.id, row]));
  }

  async #heads(runs: readonly Claim[]): Promise<ReadonlyMap<RunId, Head>> {
    if (runs.length === 0) return new Map();
    return new Map((await this.#ports.store.heads(runs)).map((head) => [head.task, head]));
  }

  async #restore(claims: readonly Claim[]): Promise<RunId[]> {
    const { store, pod } = this.#ports;
    const asked = claims.map(({ task, generation, epoch }) => ({ task, generation, epoch }));
    return asked.length === 0 ? [] : ((await store.restore?.(pod, asked)) ?? []);
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

  add(what: keyof Counts, task: RunId): void {
    this.#counts[what] += 1;
    if (this.#tasks.size < NAMED_MAX) this.#tasks.add(task);
  }

  tell(pod: PodId): void {
    if (Object.values(this.#counts).every((count) => count === 0)) return;
    tell('store.rewound', () => ({ pod, ...this.#counts, tasks: [...this.#tasks] }));
  }
}

type Verdict = 'stands' | 'held' | 'open' | 'overtaken';

/** What the store has of something that it had said to have. */
function verdictOf(row: TaskRow, settlement: Settlement, pod: PodId): Verdict {
  const { generation, epoch } = settlement;
  const isTerminal = 'outcome' in settlement;
  if (row.generation > generation) return 'stands';
  if (row.epoch === epoch && row.claimedBy === pod) return 'held';
  // Giving it back has raised the epoch; an end has not.
  if (!isTerminal) return 'stands';
  if (row.epoch === epoch && row.finishedAt !== undefined) return 'stands';
  return isOpen(row, settlement) ? 'open' : 'overtaken';
}

function isOpen(row: TaskRow | undefined, { generation, epoch }: Claim): boolean {
  const isFree = row?.status === 'pending' || row?.status === 'waiting';
  return row !== undefined && isFree && row.generation === generation && row.epoch < epoch;
}

/** Records that the store had said to have, and has not. */
function missingOf(
  held: HeldRun,
  head: Head | undefined,
  writtenOf: RewinderPorts['written'],
): Flush | undefined {
  const seq = head?.lastSeq ?? -1;
  if (seq >= held.flushedSeq) return undefined;
  const written = writtenOf(held.claim.task);
  const before = written.find((record) => record.seq === seq);
  if (seq >= 0 && before?.hash !== head!.lastHash) return undefined;
  const missing = written.filter((record) => record.seq > seq && record.seq <= held.flushedSeq);
  if (missing.length !== held.flushedSeq - seq) return undefined;
  return segmentOf(held.claim, before?.hash ?? '', missing);
}

function* pagesOf<T>(all: readonly T[]): Iterable<readonly T[]> {
  for (let from = 0; from < all.length; from += PAGE_COUNT)
    yield all.slice(from, from + PAGE_COUNT);
}
