/**
 * One pod's heartbeat: a statement every few seconds that says "alive" and brings back what the pod
 * has to know. The number in the row is compared and set, so that a cloned process is found out; the
 * nonce tells a clone's beat from an own one whose answer was lost.
 */
import type { Cancel, Clock, Json } from '../ground/index.ts';
import type { BeatAnswer, PodId, Store } from '../store/index.ts';

/** An answer, and when its question was sent, by the monotonic clock. */
export interface Heard {
  readonly answer: BeatAnswer;
  readonly sentMs: number;
  readonly heardMs: number;
  /** When what it told was put together. */
  readonly madeMs?: number | undefined;
}

/** What a pod tells with a beat. */
export interface News {
  readonly lsn: number;
  readonly report: Json;
  readonly leads?: boolean | undefined;
  readonly madeMs?: number | undefined;
}

/** What a heart knows of its row, so that another can go on with it: the same pod, not a clone. */
export interface Followed {
  /** The number of the last beat that is known to have been taken. */
  readonly seq: number;
  /** One of these stands in the row. */
  readonly nonces: readonly string[];
}

export interface BeatPorts {
  readonly store: Pick<Store, 'beat' | 'follow'>;
  readonly clock: Clock;
  readonly pod: PodId;
  readonly heartbeatMs: number;
  readonly silentMs: number;
  /** The nonce of the registration: the first beat follows it. */
  readonly nonce: string;
  /** Where an earlier heart of this pod has stopped; undefined for the first. */
  readonly since?: Followed | undefined;
  /** Before each beat: what another would have to know if this one went no further. */
  readonly onSending?: ((followed: Followed) => void) | undefined;
  readonly mintNonce: () => string;
  readonly news: () => News;
  /** Whether the process still makes progress; one that does not lets itself be taken for dead. */
  readonly isAlive: () => boolean;
  readonly onHeard: (heard: Heard) => void;
  readonly onFailed: (error: unknown, sentMs: number) => void;
}

/** Beats whose answers were lost and whose nonce may therefore stand in the row. */
const UNHEARD_COUNT_MAX = 64;
const PAST_COUNT_MAX = 2 * UNHEARD_COUNT_MAX;

export class BeatLoop {
  readonly #ports: BeatPorts;
  readonly #unheard = new Set<string>();
  /** Of earlier beats, heard or not: one of them stands in a row that has gone back in time. */
  #past: string[] = [];
  #seq: number;
  #cancel: Cancel | undefined;
  #beating: Promise<void> | undefined;
  #isStopped = false;

  constructor(ports: BeatPorts) {
    this.#ports = ports;
    const { seq, nonces } = ports.since ?? { seq: 0, nonces: [ports.nonce] };
    this.#seq = seq;
    for (const nonce of nonces) this.#unheard.add(nonce);
  }

  start(): void {
    this.#beatSoon(0);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancel?.();
    await this.#beating;
  }

  #beatSoon(ms: number): void {
    if (this.#isStopped) return;
    this.#cancel?.();
    this.#cancel = this.#ports.clock.after(Math.max(0, ms), () => {
      this.#beating = this.#beatOnce();
    });
  }

  async #beatOnce(): Promise<void> {
    const { clock, heartbeatMs, isAlive } = this.#ports;
    const sentMs = clock.monotonicMs();
    let waitMs = heartbeatMs;
    if (isAlive()) waitMs = await this.#beat(sentMs);
    this.#beatSoon(waitMs - (clock.monotonicMs() - sentMs));
  }

  /** Answers how long after `sentMs` the next one is to be sent. */
  async #beat(sentMs: number): Promise<number> {
    const { store, pod, heartbeatMs, silentMs, mintNonce, news, onHeard, onFailed } = this.#ports;
    const since = [...this.#unheard];
    const nonce = this.#nextNonce(mintNonce);
    this.#ports.onSending?.({ seq: this.#seq, nonces: [...this.#unheard] });
    const { madeMs, ...told } = news();
    const times = { heartbeatMs, silentMs };
    let answer: BeatAnswer;
    try {
      answer = await store.beat({ pod, seq: this.#seq, nonce, since, times, ...told });
    } catch (error) {
      onFailed(error, sentMs);
      return spread(heartbeatMs / 3, nonce);
    }
    if (this.#isStopped) return heartbeatMs;
    if (answer.kind === 'refused' && this.#isOwn(answer)) {
      // It was heard after all, some beats ago; when exactly is not known, so nothing is extended.
      this.#seq = answer.seq!;
      this.#unheard.add(answer.nonce!);
      return 0;
    }
    if (answer.kind === 'taken') {
      this.#seq = answer.seq;
      this.#past = [...this.#past, ...this.#unheard].slice(-PAST_COUNT_MAX);
      this.#unheard.clear();
      store.follow?.(answer.timeline).catch(() => undefined);
      // A clone that copied this memory would beat with the same number, but not with this name.
      this.#unheard.add(nonce);
    } else {
      this.#isStopped = true;
    }
    onHeard({ answer, sentMs, heardMs: this.#ports.clock.monotonicMs(), madeMs });
    return heartbeatMs;
  }

  /** One of them stands in the row, and which one is not known: so none of them is forgotten. */
  #nextNonce(mint: () => string): string {
    if (this.#unheard.size >= UNHEARD_COUNT_MAX) return [...this.#unheard].at(-1)!;
    const nonce = mint();
    this.#unheard.add(nonce);
    return nonce;
  }

  #isOwn({ status, seq, nonce }: Extract<BeatAnswer, { kind: 'refused' }>): boolean {
    const isLive = status === 'up' || status === 'draining';
    if (!isLive || seq === undefined || seq === this.#seq) return false;
    // A clone cannot have written it: its beats have names of their own, and higher numbers.
    const hasGoneBack = seq < this.#seq && this.#past.includes(nonce ?? '');
    return hasGoneBack || this.#unheard.has(nonce ?? '');
  }
}

/**
 * Half of it to one and a half: pods that lost the store at one moment must not come back to it at one.
 * The name of the beat is chance enough.
 */
function spread(ms: number, nonce: string): number {
  const chance = Number.parseInt(nonce.slice(0, 8), 16) / 2 ** 32;
  return ms * (Number.isFinite(chance) ? 0.5 + chance : 1);
}
