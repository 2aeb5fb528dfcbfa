/**
 * The lines of the live table: a run keeps its line until it has ended and another run needs the line.
 * What pods report makes lines and ends them; what a pod lists refreshes them. A run that no pod lists is
 * what its row in the store says, so that a line is right whichever message was lost with its pod.
 *
 *   begun, resumed ──▶ active ──finished, settled──▶ ended ──another run needs the line──▶ gone
 *                       │  ▲
 *               settled │  │ begun, resumed
 *                       ▼  │
 *                 waiting, released
 */
import { type RunStatus, type RunSummary, STATUS_OF_OUTCOME } from '../../engine/index.ts';
import type { RunId } from '../../ground/index.ts';
import type { Outcome } from '../../machine/index.ts';
import { RECOVERY_PREFIX, type TaskRow } from '../../store/index.ts';
import type { SupervisorEvent } from '../worker/supervisor.ts';

/** What the table shows of a run. */
export type ShownRun = Pick<
  RunSummary,
  'id' | 'machine' | 'version' | 'status' | 'state' | 'attempt' | 'startedAt' | 'finishedAt'
>;
export interface Line extends ShownRun {
  /** The pod that runs it, or was the last one to do so. */
  readonly pod: string;
  /** Whether that pod still does, and if not, what the run is in the store. */
  readonly hold: 'held' | 'waiting' | 'released';
  /** When a pod last spoke of it, by the count of messages. */
  readonly heard: number;
}
/** The columns of a row that decide about a line. */
export type LineRow = Pick<TaskRow, 'id' | 'status' | 'outcome' | 'finishedAt'>;

const ENDED: ReadonlySet<string> = new Set(Object.values(STATUS_OF_OUTCOME));

export class RunLines {
  #lines: Line[] = [];
  #heard = 0;

  get all(): readonly Line[] {
    return this.#lines;
  }

  /** The messages so far: an answer that was asked for before a later one does not count. */
  get heard(): number {
    return this.#heard;
  }

  /** As many as the screen has room for. */
  fit(countMax: number): void {
    this.#lines = this.#lines.slice(0, countMax);
  }

  hear(pod: string, event: SupervisorEvent, now: number, countMax: number): void {
    this.#heard += 1;
    switch (event.kind) {
      case 'begun':
      case 'resumed': {
        if (event.machine.startsWith(RECOVERY_PREFIX)) return;
        const { machine, version } = event;
        const { state, attempt } = event.kind === 'resumed' ? event : { state: '', attempt: 1 };
        const id = event.run as RunId;
        const known = this.#find(id);
        const startedAt = known?.finishedAt === undefined ? (known?.startedAt ?? now) : now;
        const run = { id, machine, version, status: 'active', state, attempt, startedAt } as const;
        return this.#put({ ...run, pod, hold: 'held', heard: this.#heard }, countMax);
      }
      case 'finished': {
        const { state, outcome, elapsedMs } = event;
        const status = STATUS_OF_OUTCOME[outcome];
        return this.#end(event.run, { state, status, startedAt: now - elapsedMs }, now);
      }
      case 'settled':
        return this.#settle(event.run, event.to, now);
      default:
    }
  }

  /** What a pod lists, asked for when `asOf` messages had come. Of others it takes what the pod holds. */
  refresh(
    pod: string,
    runs: readonly ShownRun[],
    { asOf, holds, countMax }: { asOf: number; holds: ReadonlySet<string>; countMax: number },
  ): void {
    for (const run of runs.toSorted(byId)) {
      const line = this.#find(run.id);
      const isLate = line && (line.finishedAt !== undefined || line.heard > asOf);
      if (isLate || !(line || holds.has(run.id))) continue;
      const heard = line?.heard ?? asOf;
      this.#put({ ...run, pod, hold: 'held', heard }, countMax);
    }
  }

  /** The runs in the table that have not ended, and that no pod lists. */
  unlisted(listed: ReadonlySet<string>): RunId[] {
    return this.#lines
      .filter(({ id, finishedAt }) => finishedAt === undefined && !listed.has(id))
      .map(({ id }) => id);
  }

  /** What the store has of `asked`, read when `asOf` messages had come. */
  decide(asked: readonly RunId[], rows: readonly LineRow[], asOf: number): void {
    const found = new Map(rows.map((row) => [row.id, row]));
    for (const id of asked) {
      const line = this.#find(id);
      const row = found.get(id);
      if (!line || line.heard > asOf) continue;
      if (!row) this.#lines = this.#lines.filter((each) => each !== line);
      else if (row.finishedAt === undefined) this.#settle(id, row.status, 0);
      else {
        const status = STATUS_OF_OUTCOME[row.outcome as Outcome];
        this.#end(id, { status }, row.finishedAt);
      }
    }
  }

  #settle(id: string, to: string, now: number): void {
    if (ENDED.has(to)) return this.#end(id, { status: to as RunStatus }, now);
    if (to !== 'waiting' && to !== 'pending') return;
    const hold = to === 'pending' ? 'released' : 'waiting';
    const over = { status: 'waiting', hold } as const;
    this.#change(id, (line) => (line.finishedAt === undefined ? { ...line, ...over } : line));
  }

  /** Once only: the message that names the outcome comes first, and the one of its settling after it. */
  #end(id: string, over: Partial<ShownRun>, finishedAt: number): void {
    this.#change(id, (line) =>
      line.finishedAt === undefined ? { ...line, ...over, finishedAt } : line,
    );
  }

  #find(id: string): Line | undefined {
    return this.#lines.find((line) => line.id === id);
  }

  #change(id: string, change: (line: Line) => Line): void {
    this.#lines = this.#lines.map((line) =>
      line.id === id ? { ...change(line), heard: this.#heard } : line,
    );
  }

  /** Its own line, else a new one, else that of the run that ended first; none where all go on. */
  #put(line: Line, countMax: number): void {
    const own = this.#lines.findIndex(({ id }) => id === line.id);
    if (own < 0 && this.#lines.length < countMax) this.#lines.push(line);
    else {
      const at = own < 0 ? firstEnded(this.#lines) : own;
      if (at !== undefined) this.#lines[at] = line;
    }
  }
}

function byId(a: ShownRun, b: ShownRun): number {
  return a.id < b.id ? -1 : 1;
}

function firstEnded(lines: readonly ShownRun[]): number | undefined {
  let first: number | undefined;
  for (const [index, { finishedAt }] of lines.entries()) {
    if (finishedAt === undefined) continue;
    if (first === undefined || finishedAt < (lines[first]?.finishedAt ?? 0)) first = index;
  }
  return first;
}
