/**
 * What one client of the stream is told, in the order in which it may be told. Every event carries the
 * cursor of everything that was told so far.
 *
 *   hello    the stream has begun; look at the list now, and nothing is missed
 *   record   the next record of a run
 *   rewind   forget the records of a run after this one: they do not count, or it was redriven
 *   run      the row of a followed run has changed
 *   runs     runs of the list have changed, each told once
 *   reset    so much has changed, or so long ago, that the list has to be looked at again
 *   pods     all pods, or those that have changed
 *   stale    the store cannot be reached; `fresh` when it can again
 *   broken   the records of a run cannot be read, and are told no further
 *   bye      this process is leaving: ask another one, or ask again
 */
import { describeError, FleetqError, type RunId } from '../../ground/index.ts';
import type { ChangeLog } from './change-log.ts';
import { type Cursor, encodeCursor, type Position } from './cursor.ts';
import type { RunLine } from './line.ts';
import type { Follower } from './lines.ts';
import { eventText, type Outlet } from './outlet.ts';
import type { PodsTold } from './pod-list.ts';
import type { View } from './sources.ts';
import type { Topics } from './topics.ts';

/** More go with the next batch. */
const BATCH_COUNT_MAX = 500;
const NOTHING: Position = { generation: 0, epoch: 0, seq: -1, hash: '' };

export class Stream implements Follower {
  readonly isExact = false;
  readonly topics: Topics;
  readonly outlet: Outlet;
  readonly #teller: string;
  readonly #view: View;
  readonly #positions = new Map<RunId, Position>();
  readonly #tasksTold = new Map<RunId, unknown>();
  #change: number;
  #podsOwed: PodsTold | 'whole' | undefined;
  #isFreshTold = true;

  constructor(
    options: {
      readonly topics: Topics;
      readonly outlet: Outlet;
      readonly teller: string;
      readonly view: View;
    },
    /** What it has been told before, here or elsewhere. */
    from: Cursor | undefined,
    log: ChangeLog,
  ) {
    this.topics = options.topics;
    this.outlet = options.outlet;
    this.#teller = options.teller;
    this.#view = options.view;
    const isOurs = from?.teller === options.teller;
    // A number that the log never gave: whoever has it is told to look again.
    this.#change = from === undefined ? log.last : isOurs ? from.change : -1;
    for (const run of options.topics.runs) {
      this.#positions.set(run, from?.runs.get(run) ?? NOTHING);
    }
  }

  get isFull(): boolean {
    return this.outlet.isFull;
  }

  hello(isResumed: boolean): void {
    const { hasRuns, hasPods, runs } = this.topics;
    const topics = [
      ...(hasRuns ? ['runs'] : []),
      ...(hasPods ? ['pods'] : []),
      ...runs.map((run) => `run:${run}`),
    ];
    this.outlet.write('retry: 2000\n\n');
    this.#send('hello', { topics, isResumed });
  }

  /** The client has said where it is in words that nobody here understands. */
  forgetAll(): void {
    this.#change = -1;
    for (const run of this.topics.runs) {
      this.#send('rewind', { run, generation: undefined, after: -1, why: 'unknown' });
    }
  }

  position(run: RunId): Position {
    return this.#positions.get(run) ?? NOTHING;
  }

  flow(line: RunLine): boolean {
    const { run } = line;
    while (!this.outlet.isFull) {
      const step = line.after(this.position(run));
      switch (step.kind) {
        case 'tell': {
          this.#positions.set(run, step.position);
          const { lsn: _, ...record } = this.#view.record(step.record) as { lsn?: unknown };
          this.#send('record', { run, generation: step.position.generation, ...record });
          break;
        }
        case 'rewind': {
          this.#positions.set(run, step.to);
          const { generation, seq } = step.to;
          this.#send('rewind', { run, generation, after: seq, why: step.why });
          break;
        }
        case 'look':
          return true;
        case 'wait':
          this.#tellTask(line);
          return false;
      }
    }
    return false;
  }

  #tellTask({ run, task }: RunLine): void {
    if (!task) return;
    const { generation, epoch, status, updatedAt, isPaused, control } = task;
    const told = [generation, epoch, status, updatedAt, isPaused, control].join(' ');
    if (this.#tasksTold.get(run) === told) return;
    this.#tasksTold.set(run, told);
    this.#send('run', { run, task: this.#view.task(task) });
  }

  broken(run: RunId, error: unknown): void {
    this.#positions.delete(run);
    const { message } = describeError(error);
    const code = error instanceof FleetqError ? error.code : 'FLEETQ_INTERNAL';
    this.#send('broken', { run, code, message });
  }

  /** What has changed in the list; a client that is too far behind is told to look at it. */
  tellRuns(log: ChangeLog): void {
    if (!this.topics.hasRuns || this.outlet.isFull) return;
    const changes = log.since(this.#change);
    if (changes === undefined) {
      this.#change = log.last;
      return this.#send('reset', { topic: 'runs' });
    }
    const batch = changes.slice(0, BATCH_COUNT_MAX);
    if (batch.length === 0) return;
    this.#change = batch.at(-1)!.number;
    const told = batch.map(({ change: { task, ...change } }) =>
      task ? { ...change, task: this.#view.task(task) } : change,
    );
    this.#send('runs', { changes: told, hasMore: changes.length > batch.length });
  }

  tellPods(told: PodsTold | undefined, whole: PodsTold | undefined): void {
    if (!this.topics.hasPods) return;
    if (told)
      this.#podsOwed = this.#podsOwed || this.outlet.isFull || told.isWhole ? 'whole' : told;
    if (this.#podsOwed === undefined || this.outlet.isFull) return;
    const owed = this.#podsOwed === 'whole' ? whole : this.#podsOwed;
    // Nobody has looked yet: it is told when somebody has.
    if (!owed) return;
    this.#podsOwed = undefined;
    this.#send('pods', owed);
  }

  /** It has just come, and knows no pod. */
  owePods(): void {
    this.#podsOwed = 'whole';
  }

  /** Whoever has just come takes it for fresh. One that takes nothing now is told when it does. */
  tellFreshness(isFresh: boolean): void {
    if (this.outlet.isFull || isFresh === this.#isFreshTold) return;
    this.#isFreshTold = isFresh;
    this.#send(isFresh ? 'fresh' : 'stale', {});
  }

  bye(why: 'draining' | 'session' = 'draining'): void {
    this.outlet.end(eventText('bye', { why }, this.#cursor));
  }

  get #cursor(): string {
    return encodeCursor({
      teller: this.#teller,
      change: Math.max(0, this.#change),
      runs: this.#positions,
    });
  }

  #send(event: string, data: object): void {
    this.outlet.write(eventText(event, data, this.#cursor));
  }
}
