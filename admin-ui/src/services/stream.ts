/**
 * The one stream of a tab. Whoever looks at something names its topic; the stream is opened for all of
 * them, goes on after the last id it was told, and is cut by a pause: then nothing is asked at all.
 *
 *   off ──a topic──▶ connecting ──hello──▶ live ◀──fresh── stale
 *                        ▲                   │
 *                        └──later and later──┘ lost        paused: by whoever looks on
 *
 * A browser keeps about six connections to a host, for all of its tabs: one that nobody sees lets go of
 * its own, or the seventh tab would wait for ever.
 */
import { parseJson } from '../format/lossless.ts';
import { after } from '../platform/clock.ts';
import { API, queryText, retryAfterMs, tellUnknown } from './api.ts';
import { SseReader, type Told } from './sse.ts';

export type LiveState = 'off' | 'connecting' | 'live' | 'stale' | 'lost' | 'paused';

/** What events have, each its part of it. */
export interface HeardData {
  readonly isResumed?: boolean | undefined;
  readonly changes?: readonly { readonly id: string }[] | undefined;
  readonly run?: string | undefined;
  readonly after?: number | undefined;
  readonly seq?: number | undefined;
}

export interface Heard {
  readonly event: string;
  readonly data: HeardData;
}
type Listener = (heard: Heard) => void;

const BACKOFF_MS = [500, 1_000, 2_000, 5_000, 10_000, 20_000];
/** The server says something every fifteen seconds, be it that it is alive. */
const SILENCE_MS_MAX = 40_000;
/** Pages that change hands name their topics one after another. */
const SETTLE_MS = 30;

export class Stream {
  readonly #listeners = new Map<Listener, string>();
  readonly #watchers = new Set<() => void>();
  #state: LiveState = 'off';
  #isPaused = false;
  #isHidden = false;
  #topics = '';
  #lastId: string | undefined;
  #aborter: AbortController | undefined;
  #cancel: () => void = () => undefined;
  #failures = 0;

  get state(): LiveState {
    return this.#isPaused ? 'paused' : this.#state;
  }

  watch = (watcher: () => void): (() => void) => {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  };

  /** Everything that is told is told to all; each picks out what is its own. */
  follow(topic: string, listener: Listener): () => void {
    this.#listeners.set(listener, topic);
    this.#settle();
    return () => {
      this.#listeners.delete(listener);
      this.#settle();
    };
  }

  pause(isPaused: boolean): void {
    if (this.#isPaused === isPaused) return;
    this.#isPaused = isPaused;
    this.#failures = 0;
    if (isPaused) this.#cut();
    else this.#begin();
    this.#tell();
  }

  /** Nobody sees the tab; once somebody does, it is told what it has missed. */
  hide(isHidden: boolean): void {
    if (this.#isHidden === isHidden) return;
    this.#isHidden = isHidden;
    if (isHidden) this.#cut();
    else this.#begin();
  }

  #settle(): void {
    this.#cancel();
    this.#cancel = after(SETTLE_MS, () => this.#begin());
  }

  /** With what is followed now; where that is the same, it goes on as it is. */
  #begin(): void {
    const topics = [...new Set(this.#listeners.values())].sort().join(',');
    if (topics === this.#topics && this.#aborter) return;
    if (topics !== this.#topics) this.#lastId = undefined;
    this.#topics = topics;
    this.#cut();
    this.#open();
  }

  #cut(): void {
    this.#cancel();
    this.#aborter?.abort();
    this.#aborter = undefined;
    this.#enter('off');
  }

  #open(): void {
    if (this.#isPaused || this.#isHidden || this.#topics === '') return;
    const aborter = new AbortController();
    this.#aborter = aborter;
    this.#enter('connecting');
    this.#read(aborter.signal).then(
      (waitMs) => this.#again(aborter, waitMs),
      () => this.#again(aborter, undefined),
    );
  }

  #again(aborter: AbortController, waitMs: number | undefined): void {
    if (this.#aborter !== aborter) return;
    aborter.abort();
    this.#aborter = undefined;
    const at = Math.min(this.#failures++, BACKOFF_MS.length - 1);
    this.#enter('lost');
    this.#cancel = after(waitMs ?? BACKOFF_MS[at]!, () => this.#open());
  }

  /** Until it ends; answers how long to wait where that was said. */
  async #read(signal: AbortSignal): Promise<number | undefined> {
    const headers: Record<string, string> = { accept: 'text/event-stream' };
    if (this.#lastId !== undefined) headers['last-event-id'] = this.#lastId;
    const path = `${API}/stream${queryText({ topics: this.#topics })}`;
    const answer = await fetch(path, { signal, headers, credentials: 'same-origin' });
    if (!answer.ok || !answer.body) {
      if (answer.status === 401) tellUnknown();
      return retryAfterMs(answer);
    }
    await this.#hearAll(answer.body, signal);
    return undefined;
  }

  async #hearAll(body: ReadableStream<Uint8Array>, signal: AbortSignal): Promise<void> {
    const source = body.getReader();
    const [text, reader] = [new TextDecoder(), new SseReader()];
    signal.addEventListener('abort', () => void source.cancel().catch(() => undefined));
    for (;;) {
      const stop = after(SILENCE_MS_MAX, () => void source.cancel().catch(() => undefined));
      const { done, value } = await source.read().finally(stop);
      if (done || signal.aborted) return;
      for (const told of reader.read(text.decode(value, { stream: true }))) this.#hear(told);
    }
  }

  #hear({ id, event, data }: Told): void {
    if (id !== undefined) this.#lastId = id;
    if (event === 'hello') this.#failures = 0;
    if (event === 'hello' || event === 'fresh') this.#enter('live');
    if (event === 'stale') this.#enter('stale');
    this.#say({ event, data: parseJson(data) as HeardData });
  }

  #say(heard: Heard): void {
    for (const listener of this.#listeners.keys()) listener(heard);
  }

  #enter(state: LiveState): void {
    if (this.#state === state) return;
    this.#state = state;
    this.#tell();
  }

  #tell(): void {
    for (const watcher of this.#watchers) watcher();
  }
}
