/**
 * Everybody who looks on. However many they are, there is one look at the store for all of them at a
 * time, one log of changes, and one window of records for each run.
 *
 *   journal ── run.recorded ──┐
 *                             ├─→ lines, list, pods ──→ streams, each as fast as it reads
 *   store ──── watch, 1/s ────┘
 */
import type { ServerResponse } from 'node:http';
import { RunNotFoundError } from '../../engine/index.ts';
import { type Cancel, type Clock, describeError, isRunId, type RunId } from '../../ground/index.ts';
import { listen, tell } from '../../telemetry/events.ts';
import { decodeCursor, type Position } from './cursor.ts';
import { Every } from './every.ts';
import { Guards } from './guards.ts';
import { RunLines } from './lines.ts';
import { Outlet, STREAM_HEADERS } from './outlet.ts';
import { NO_PODS, PodList } from './pod-list.ts';
import { draining, tooMany } from './refusals.ts';
import { RunFollower } from './run-follower.ts';
import { CHANGED_MAX, NOTHING_ELSE, RunList } from './run-list.ts';
import {
  type LiveStore,
  type LocalRuns,
  type Sources,
  type StreamAsked,
  wholeView,
} from './sources.ts';
import { Stream } from './stream.ts';
import { parseTopics } from './topics.ts';

export interface LiveOptions {
  readonly clock: Clock;
  readonly sources: Sources;
  /** Names this process in cursors, in lower-case hexadecimal digits. */
  readonly teller: string;
}

const FOLLOWERS_MAX = 64;
const [LOOK_EVERY_MS, BATCH_EVERY_MS] = [50, 250];
const [POLL_EVERY_MS, POLL_SOON_MS] = [1_000, 100];
const [PODS_EVERY_MS, ALIVE_EVERY_MS] = [2_000, 15_000];
/** Who comes back within this finds the log of changes as it was. */
const LINGER_MS = 30_000;

export class LiveHub {
  readonly #clock: Clock;
  readonly #sources: Sources;
  readonly #teller: string;
  readonly #lines: RunLines;
  readonly #list: RunList;
  readonly #pods = new PodList();
  readonly #streams = new Set<Stream>();
  readonly #followers = new Set<RunFollower>();
  readonly #batch: Every;
  readonly #poll: Every;
  readonly #podPoll: Every;
  readonly #alive: Every;
  readonly #guards: Guards;
  #coming = 0;
  #isLeaving = false;
  #isStale = false;
  #isLooking = false;
  #isLookDue = false;
  #cancelLook: Cancel | undefined;
  #cancelLinger: Cancel | undefined;
  #unlisten: (() => void) | undefined;

  constructor({ clock, sources, teller }: LiveOptions) {
    this.#clock = clock;
    this.#sources = sources;
    this.#teller = teller;
    this.#lines = new RunLines(sources, clock);
    this.#list = new RunList(clock);
    this.#batch = new Every(clock, BATCH_EVERY_MS, () => this.#tellRuns());
    this.#poll = new Every(clock, POLL_EVERY_MS, () => this.#ask((store) => this.#watch(store)));
    this.#podPoll = new Every(clock, PODS_EVERY_MS, () =>
      this.#ask((store) => this.#lookAtPods(store)),
    );
    this.#guards = new Guards(clock);
    this.#alive = new Every(clock, ALIVE_EVERY_MS, () => {
      for (const { outlet } of this.#all()) outlet.sayAlive();
    });
  }

  /** The runs on the disk of this process. */
  get local(): LocalRuns | undefined {
    return this.#sources.local;
  }

  get size(): number {
    return this.#streams.size + this.#followers.size;
  }

  /** Takes the response over and goes on with it; refuses by throwing before it has begun. */
  async stream(asked: StreamAsked, response: ServerResponse): Promise<void> {
    const topics = parseTopics(asked.topics);
    if (this.#isLeaving) throw draining();
    const cursor = asked.lastEventId ? decodeCursor(asked.lastEventId) : undefined;
    const tasks = await this.#admit(topics.runs);
    if (response.destroyed) return;
    if (topics.hasRuns) this.#startList();
    const outlet = this.#outlet(response, () => this.#remove(stream));
    const view = asked.view ?? wholeView;
    const stream = new Stream(
      { topics, outlet, teller: this.#teller, view },
      cursor,
      this.#list.log,
    );
    this.#streams.add(stream);
    this.#guards.add(stream, asked.isOver);
    for (const run of topics.runs) this.#lines.add(run, stream, tasks.get(run));
    outlet.open({ ...asked.headers, ...STREAM_HEADERS });
    stream.hello(cursor !== undefined);
    if (asked.lastEventId && !cursor) stream.forgetAll();
    stream.tellRuns(this.#list.log);
    if (topics.hasPods) this.#startPods(stream);
    stream.tellFreshness(!this.#isStale);
    this.#goOn();
  }

  /** The same for one run's records alone, until it has ended. */
  async follow(
    run: string,
    from: Position,
    response: ServerResponse,
    asked: Pick<StreamAsked, 'view' | 'headers' | 'isOver'> = {},
  ): Promise<void> {
    if (!isRunId(run)) throw new RunNotFoundError(run);
    const tasks = await this.#admit([run]);
    if (response.destroyed) return;
    const outlet = this.#outlet(response, () => this.#remove(follower));
    const follower = new RunFollower(outlet, asked.view ?? wholeView, from);
    this.#followers.add(follower);
    this.#guards.add(follower, asked.isOver);
    this.#lines.add(run, follower, tasks.get(run));
    outlet.open({ ...asked.headers, ...STREAM_HEADERS });
    this.#goOn();
  }

  /** This process is on its way out: clients are told, so that they ask another one. */
  leave(): void {
    this.#isLeaving = true;
    for (const stream of this.#streams) stream.bye();
  }

  /** Ends everything; all know where they were and may ask the next process. */
  stop(): void {
    this.leave();
    for (const { outlet } of this.#followers) outlet.end();
    for (const who of this.#all()) this.#guards.remove(who);
    for (const all of [this.#streams, this.#followers]) all.clear();
    this.#rest();
    this.#cancelLinger?.();
    this.#list.stop();
  }

  *#all(): Iterable<Stream | RunFollower> {
    yield* this.#streams;
    yield* this.#followers;
  }

  async #admit(runs: readonly RunId[]) {
    if (this.size + this.#coming >= FOLLOWERS_MAX) throw tooMany(FOLLOWERS_MAX);
    this.#coming++;
    try {
      return await this.#lines.refuseUnknown(runs);
    } finally {
      this.#coming--;
    }
  }

  #outlet(response: ServerResponse, close: () => void): Outlet {
    return new Outlet(response, this.#clock, { close, drain: () => this.#lookSoon(0) });
  }

  #remove(who: Stream | RunFollower): void {
    if (who instanceof Stream) this.#streams.delete(who);
    else this.#followers.delete(who);
    this.#lines.remove(who);
    this.#guards.remove(who);
    const streams = [...this.#streams];
    if (!streams.some(({ topics }) => topics.hasPods)) {
      this.#podPoll.stop();
      this.#pods.forget();
    }
    if (!streams.some(({ topics }) => topics.hasRuns)) this.#endList();
    if (this.size > 0) return;
    if (this.#list.isOn) this.#alive.stop();
    else this.#rest();
  }

  /** Whatever is wanted now is under way. */
  #goOn(): void {
    this.#alive.start();
    if (this.#sources.store) this.#poll.start();
    this.#unlisten ??= listen('run.recorded', (event) => {
      const what = this.#lines.recorded(event);
      if (what === 'grown') this.#lookSoon(LOOK_EVERY_MS);
      if (what === 'elsewhere') this.#poll.hurry(POLL_SOON_MS);
    });
    this.#lookSoon(0);
  }

  #rest(): void {
    for (const every of [this.#batch, this.#poll, this.#podPoll, this.#alive]) every.stop();
    this.#cancelLook?.();
    this.#unlisten?.();
    this.#cancelLook = this.#unlisten = undefined;
  }

  #startList(): void {
    this.#cancelLinger?.();
    this.#cancelLinger = undefined;
    this.#list.start();
    this.#batch.start();
  }

  #endList(): void {
    if (!this.#list.isOn || this.#cancelLinger) return;
    this.#batch.stop();
    this.#cancelLinger = this.#clock.after(LINGER_MS, () => this.#forgetList(), { idle: true });
  }

  #forgetList(): void {
    this.#cancelLinger = undefined;
    this.#list.stop();
    if (this.size === 0) this.#rest();
  }

  #startPods(stream: Stream): void {
    stream.owePods();
    if (!this.#sources.store) return stream.tellPods(undefined, NO_PODS);
    stream.tellPods(undefined, this.#pods.whole);
    this.#podPoll.start();
    if (!this.#pods.whole) this.#podPoll.hurry(0);
  }

  #tellRuns(): void {
    for (const stream of this.#streams) stream.tellRuns(this.#list.log);
  }

  /** One question for everything that is followed and listed. */
  async #watch(store: LiveStore): Promise<void> {
    const followed = this.#lines.runs;
    const asking = this.#list.isOn ? this.#list.asking : NOTHING_ELSE;
    if (followed.length === 0 && !this.#list.isOn) return;
    const watch = await store.watch({ followed, ...asking, countMax: CHANGED_MAX });
    this.#lines.watched(watch.tasks, watch.heads);
    if (this.#list.isOn) this.#list.watched(watch, new Set(followed));
    this.#lookSoon(0);
  }

  async #lookAtPods(store: LiveStore): Promise<void> {
    const told = this.#pods.seen(await store.pods());
    for (const stream of this.#streams) stream.tellPods(told, this.#pods.whole);
  }

  /** While the store is away, what is here is told all the same, and clients know. */
  async #ask(question: (store: LiveStore) => Promise<void>): Promise<void> {
    try {
      await question(await this.#sources.store!());
      this.#setStale(false);
    } catch (error) {
      tell('store.failed', () => ({ what: 'watch', error: describeError(error) }));
      this.#setStale(true);
    }
  }

  #setStale(isStale: boolean): void {
    if (this.#isStale === isStale) return;
    this.#isStale = isStale;
    for (const stream of this.#streams) stream.tellFreshness(!isStale);
  }

  #lookSoon(ms: number): void {
    this.#cancelLook ??= this.#clock.after(ms, () => void this.#look(), { idle: true });
  }

  async #look(): Promise<void> {
    this.#cancelLook = undefined;
    this.#isLookDue = this.#isLooking;
    if (this.#isLooking) return;
    this.#isLooking = true;
    let waitMs = LOOK_EVERY_MS;
    try {
      await this.#lines.flow();
      for (const stream of this.#streams) stream.tellPods(undefined, this.#pods.whole);
    } catch (error) {
      tell('store.failed', () => ({ what: 'histories', error: describeError(error) }));
      waitMs = POLL_EVERY_MS;
      this.#setStale(true);
    } finally {
      this.#isLooking = false;
      for (const stream of this.#streams) stream.tellFreshness(!this.#isStale);
      if (this.#isLookDue) this.#lookSoon(0);
      else if (this.size > 0 && this.#lines.isWanting) this.#lookSoon(waitMs);
    }
  }
}
