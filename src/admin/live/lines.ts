/**
 * All runs that are followed, and where their records come from. What this process holds is told from
 * its journal, as it is written; of everything else counts what the store has. A run changes sides
 * when its task is claimed, given back or taken over: the hashes say whether it is the same history.
 */
import { RunNotFoundError } from '../../engine/index.ts';
import type { Clock, RunId } from '../../ground/index.ts';
import { isFinal } from '../../machine/index.ts';
import type { Head, TaskGlance } from '../../store/index.ts';
import type { FleetqEvents } from '../../telemetry/events.ts';
import { archiveReading, journalReading, type Reading, windowAfter } from '../reading.ts';
import type { Position } from './cursor.ts';
import { RunLine } from './line.ts';
import { FIRST_GENERATION, type LiveStore, type Sources } from './sources.ts';

/** Whoever follows a run. */
export interface Follower {
  /** Whether it needs every record as the journal reads it, with its place in the file. */
  readonly isExact: boolean;
  /** It takes nothing just now. */
  readonly isFull: boolean;
  position(run: RunId): Position;
  /** Tells what there is; answers whether another look is needed for that. */
  flow(line: RunLine): boolean;
  /** The records cannot be read. */
  broken(run: RunId, error: unknown): void;
}

interface Followed {
  readonly line: RunLine;
  readonly followers: Set<Follower>;
  /** What the store said of it when it was last read. */
  readKey: string;
  source: 'journal' | 'store' | undefined;
  failures: number;
  /** A long history is not read again at once. */
  restUntilMs: number;
  needsLook: boolean;
  /** Written about while it is being read: what was read may be old. */
  isOvertaken: boolean;
}

/** What all windows may hold together; each has an equal share. */
const WINDOWS_BYTES_MAX = 32 * 1024 * 1024;
const WINDOW_BYTES_MAX = 4 * 1024 * 1024;
const FAILURES_MAX = 3;
const FAILED_REST_MS = 1_000;
/** A run that takes long to read rests for as long, so that others are read as often; but not for ever. */
const REST_MS_MAX = 1_000;

type Recorded = FleetqEvents['run.recorded'];

export class RunLines {
  readonly #sources: Sources;
  readonly #clock: Clock;
  readonly #followed = new Map<RunId, Followed>();

  constructor(sources: Sources, clock: Clock) {
    this.#sources = sources;
    this.#clock = clock;
  }

  get runs(): RunId[] {
    return [...this.#followed.keys()];
  }

  get size(): number {
    return this.#followed.size;
  }

  /** Refuses runs that nobody knows. Those that are followed already cost no question. */
  async refuseUnknown(runs: readonly RunId[]): Promise<ReadonlyMap<RunId, TaskGlance>> {
    const { local, store } = this.#sources;
    const isHere = (run: RunId) => this.#followed.has(run) || local?.find(run) !== undefined;
    const found = new Map<RunId, TaskGlance>();
    const asked = runs.filter((run) => !this.#followed.has(run));
    if (store && asked.length > 0) {
      const query = { followed: asked, others: [], sinceMs: undefined, countMax: 0 };
      try {
        for (const task of (await (await store()).watch(query)).tasks) found.set(task.id, task);
      } catch (error) {
        // What is on this disk can be told while the store is away.
        if (!runs.every(isHere)) throw error;
      }
    }
    const unknown = runs.find((run) => !isHere(run) && !found.has(run));
    if (unknown !== undefined) throw new RunNotFoundError(unknown);
    return found;
  }

  add(run: RunId, follower: Follower, task: TaskGlance | undefined): RunLine {
    let followed = this.#followed.get(run);
    if (!followed) {
      const line = new RunLine(run);
      line.task = task;
      followed = {
        line,
        followers: new Set(),
        readKey: '',
        source: undefined,
        failures: 0,
        restUntilMs: 0,
        needsLook: true,
        isOvertaken: false,
      };
      this.#followed.set(run, followed);
    }
    followed.followers.add(follower);
    return followed.line;
  }

  remove(follower: Follower): void {
    for (const [run, { followers }] of this.#followed) {
      if (followers.delete(follower) && followers.size === 0) this.#followed.delete(run);
    }
  }

  /** A record is durable here. True where somebody has to be told, or the store asked who has it. */
  recorded(event: Recorded): 'grown' | 'elsewhere' | undefined {
    const followed = this.#followed.get(event.run);
    if (!followed) return undefined;
    const { line, followers } = followed;
    if (followed.source === 'store') return 'elsewhere';
    followed.isOvertaken = true;
    const { seq, at, epoch, event: what, state, hash, prevHash } = event;
    const record = { seq, lsn: 0, at, epoch, event: what, state, hash };
    const isSame = (event.generation ?? FIRST_GENERATION) === line.generation;
    const isExact = [...followers].some((follower) => follower.isExact);
    const isAppended =
      isSame && !isExact && line.append(record, prevHash, isFinal(state), this.#windowBytes);
    if (!isAppended) line.isStale = true;
    return 'grown';
  }

  /** What the store says of the runs that are followed. */
  watched(tasks: readonly TaskGlance[], heads: readonly Head[]): void {
    const headOf = new Map(heads.map((head) => [head.task, head]));
    for (const task of tasks) {
      const followed = this.#followed.get(task.id);
      if (!followed) continue;
      followed.line.task = task;
      const key = keyOf(task, headOf.get(task.id));
      const isNew = key !== followed.readKey;
      followed.readKey = key;
      const source = this.#sourceOf(followed.line);
      const isMoved = source !== followed.source;
      if (!isMoved && !(source === 'store' && isNew)) continue;
      followed.line.isStale = followed.isOvertaken = true;
    }
  }

  /** Tells everybody what there is; one look at the store for all runs that need one. */
  async flow(): Promise<void> {
    const nowMs = this.#clock.monotonicMs();
    for (const followed of this.#followed.values()) this.#tell(followed);
    const wanting = [...this.#followed.values()].filter(
      ({ line, needsLook, restUntilMs }) => (line.isStale || needsLook) && restUntilMs <= nowMs,
    );
    const far: Followed[] = [];
    for (const followed of wanting) {
      const source = this.#sourceOf(followed.line);
      if (source === 'journal')
        await this.#read(followed, source, () => this.#fromJournal(followed));
      else if (this.#sources.store) far.push(followed);
      else this.#giveUp(followed, new RunNotFoundError(followed.line.run));
    }
    if (far.length > 0) await this.#readFar(far);
    for (const followed of wanting) this.#tell(followed);
  }

  /** Whether somebody could be told more. */
  get isWanting(): boolean {
    return [...this.#followed.values()].some(({ line, needsLook }) => needsLook || line.isStale);
  }

  #tell(followed: Followed): void {
    const { line, followers } = followed;
    followed.needsLook = false;
    if (line.isStale) return;
    for (const follower of [...followers]) {
      const needsLook = follower.flow(line);
      followed.needsLook ||= needsLook;
    }
  }

  #sourceOf({ run, task }: RunLine): 'journal' | 'store' {
    const { local } = this.#sources;
    const row = local?.find(run);
    if (!local || !row) return 'store';
    if (!task) return 'journal';
    const isOwn = task.claimedBy !== undefined && task.claimedBy === local.pod();
    const isHere = isOwn || task.pinnedTo === local.journal;
    return isHere && (row.generation ?? FIRST_GENERATION) >= task.generation ? 'journal' : 'store';
  }

  get #windowBytes(): number {
    return Math.min(WINDOW_BYTES_MAX, WINDOWS_BYTES_MAX / Math.max(1, this.#followed.size));
  }

  async #fromJournal({ line }: Followed): Promise<Found> {
    const local = this.#sources.local!;
    const row = local.find(line.run);
    return {
      generation: row?.generation ?? FIRST_GENERATION,
      reading: journalReading(local, line.run),
      hasEnded: row?.hasEnded ?? false,
    };
  }

  /** How the store has these, in one question; then of each what is to be told of it. */
  async #readFar(far: readonly Followed[]): Promise<void> {
    // As it was told together with the generation, and before the segments are asked for.
    const tasks = new Map(far.map(({ line: { run, task } }) => [run, task]));
    const runs = [...tasks].flatMap(([task, row]) =>
      row ? [{ task, generation: row.generation }] : [],
    );
    const store: LiveStore = await this.#sources.store!();
    const outlines = await store.outlines(runs);
    for (const followed of far) {
      const { run } = followed.line;
      const own = outlines.filter(({ task }) => task === run);
      const of = tasks.get(run) ?? { id: run, generation: FIRST_GENERATION, ...NOTHING_SETTLED };
      await this.#read(followed, 'store', async () => ({
        generation: of.generation,
        reading: await archiveReading(store, this.#sources.decode, of, own),
        hasEnded: tasks.get(run)?.finishedAt !== undefined,
      }));
    }
  }

  #giveUp({ line, followers }: Followed, error: unknown): void {
    for (const follower of [...followers]) {
      follower.broken(line.run, error);
      followers.delete(follower);
    }
    this.#followed.delete(line.run);
  }

  async #read(
    followed: Followed,
    source: 'journal' | 'store',
    look: () => Promise<Found>,
  ): Promise<void> {
    const { line } = followed;
    const begunMs = this.#clock.monotonicMs();
    followed.isOvertaken = false;
    try {
      const { generation, reading, hasEnded } = await look();
      const isOther = followed.source !== source || line.generation !== generation;
      const from = isOther ? -1 : Math.min(this.#leastOf(followed), reading.last.seq);
      const window = await windowAfter(reading, from, this.#windowBytes, this.#clock);
      const head = reading.last.seq < 0 ? undefined : reading.last;
      line.replace({ generation, hasEnded, head, ...window }, this.#windowBytes);
      line.isStale = followed.isOvertaken;
      followed.failures = 0;
      followed.source = source;
      const nowMs = this.#clock.monotonicMs();
      followed.restUntilMs = nowMs + Math.min(nowMs - begunMs, REST_MS_MAX);
    } catch (error) {
      // A flush may be on its way; what stays as it is cannot be read.
      followed.failures++;
      followed.restUntilMs = begunMs + FAILED_REST_MS;
      if (followed.failures >= FAILURES_MAX) this.#giveUp(followed, error);
    }
  }

  /** Where the furthest behind is of those that read: who does not must not hold up the others. */
  #leastOf({ line, followers }: Followed): number {
    const all = [...followers];
    const reading = all.filter(({ isFull }) => !isFull);
    const seqs = (reading.length > 0 ? reading : all).map((follower) => {
      const position = follower.position(line.run);
      return position.generation === line.generation ? position.seq : -1;
    });
    return Math.min(...seqs);
  }
}

interface Found {
  readonly generation: number;
  readonly reading: Reading;
  readonly hasEnded: boolean;
}

/** Of a run that no row is known of. */
const NOTHING_SETTLED = { lastSeq: -1, lastHash: undefined };

function keyOf({ generation, lastHash, finishedAt }: TaskGlance, head: Head | undefined): string {
  return [generation, lastHash, finishedAt, head?.epoch, head?.lastSeq, head?.lastHash].join(' ');
}
