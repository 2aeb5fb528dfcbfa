/**
 * This process as a member of the fleet. It lives as one incarnation after the other: one that was
 * taken for dead is never revived, so the process registers anew and goes on.
 *
 *   start ─→ register ─→ beat ─→ adopt ─→ claim … ─→ drain ─→ dead by its own word
 *               ↑                            │
 *               └──────── taken for dead ────┘
 */
import { atMost, type Cancel, describeError, runIdMint } from '../ground/index.ts';
import type { JournalSeen, PodGlimpse, PodId } from '../store/index.ts';
import { isHeard, type TouchedTask, tell } from '../telemetry/events.ts';
import { checkTables, type Entry, enter } from './enter.ts';
import { isPassing, JournalElsewhereError } from './errors.ts';
import { Ladder } from './ladder.ts';
import { Life } from './life.ts';
import { Memory } from './memory.ts';
import { checkTimes, type PodPorts } from './options.ts';
import { Rest } from './rest.ts';
import { Rivals } from './rivals.ts';

export interface PodEvents {
  readonly onDrainWanted: () => void;
  /** After every heartbeat that was taken: for whoever leads. */
  readonly onBeat?: ((life: Life) => void) | undefined;
  /** It has taken its place; the store knew this of its journal before. */
  readonly onJoined?: ((seen: JournalSeen) => void) | undefined;
  /** It was taken for dead; another life of it follows. */
  readonly onDied?: (() => void) | undefined;
  /** A task has ended: by this pod, or by a hint from elsewhere. */
  readonly onEnded?: (() => void) | undefined;
}

export interface PodStatus {
  readonly pod: PodId | undefined;
  readonly name: string;
  readonly isReady: boolean;
  /** It has nothing to do, and beats no more until it has. */
  readonly isResting: boolean;
  readonly leader: PodId | undefined;
  readonly held: number;
  readonly capacity: number;
  readonly unflushed: number;
  /** How long ago the oldest record was written that the store does not have. */
  readonly archiveLagMs: number;
  readonly fleet: readonly PodGlimpse[];
  /** For how long the store has not answered, beyond what it may take; undefined while it does. */
  readonly aloneMs?: number | undefined;
}

/** Left for the last settlements of a drain, whatever was spent before. */
const LAST_WORDS_MS = 3_000;

export class Pod {
  readonly #ports: PodPorts;
  readonly #events: PodEvents;
  readonly #mint: () => PodId;
  readonly #rest: Rest | undefined;
  readonly #memory = new Memory();
  readonly #rivals: Rivals;
  #life: Life | undefined;
  /** Registered and not started yet. */
  #entry: Entry | undefined;
  #isStopping = false;
  #isJoining = false;
  #stopHints: (() => Promise<void>) | undefined;
  #cancelRestart: Cancel | undefined;

  constructor(ports: PodPorts, events: PodEvents) {
    checkTimes(ports.times);
    this.#ports = ports;
    this.#events = events;
    this.#rivals = new Rivals(ports);
    const mint = runIdMint(ports.clock, ports.random);
    this.#mint = () => mint() as string as PodId;
    this.#rest = this.#restOf(ports);
  }

  /**
   * Resolves when the pod has taken its place and claims; or at once where the store is away, and it
   * joins when the store is back: what was started on this host goes on meanwhile. Throws where the
   * tables do not fit.
   */
  async start(): Promise<void> {
    this.#isJoining = true;
    try {
      await this.#join();
    } catch (error) {
      if (!isPassing(error)) throw error;
      tell('store.failed', () => ({ what: 'join', error: describeError(error) }));
      this.#life?.die();
    }
    this.#joined();
  }

  async #join(): Promise<void> {
    if (!this.#entry) await checkTables(this.#ports);
    await this.#live();
    this.#stopHints ??= await this.#ports.store.listen((hint, notice) => {
      if (hint === 'ready') this.#life?.notified(notice);
      else this.#events.onEnded?.();
    });
  }

  /** Resolves when no other process may live with this journal: nothing of it is started before. */
  async alone(): Promise<void> {
    while (await this.#rivals.gone()) {
      try {
        // More processes may have waited for the same one: the first that registers goes on.
        await checkTables(this.#ports);
        this.#entry = await this.#enter();
        return;
      } catch (error) {
        if (!isPassing(error)) throw error;
        tell('store.failed', () => ({ what: 'register', error: describeError(error) }));
        if (!(error instanceof JournalElsewhereError)) return;
      }
    }
  }

  get life(): Life | undefined {
    return this.#life;
  }

  get status(): PodStatus {
    const life = this.#life;
    return {
      pod: life?.id,
      name: this.#ports.name,
      isReady: (life?.isReady ?? false) || this.#isResting,
      isResting: this.#isResting,
      leader: life?.watch.leader,
      held: life?.holdings.size ?? 0,
      capacity: life?.capacity.count ?? 0,
      unflushed: life?.holdings.unflushed ?? 0,
      archiveLagMs: life?.holdings.archiveLagMs(this.#ports.clock.now()) ?? 0,
      fleet: life?.watch.fleet ?? [],
      aloneMs: life?.aloneMs,
    };
  }

  /** Something was enqueued here: this pod need not wait for a hint. */
  hint(): void {
    this.#rest?.wake();
    this.#life?.hint();
  }

  /** A run was started here, which the fleet is to see. */
  wake(): void {
    this.#rest?.wake();
  }

  /** Claims nothing any more; runs at a boundary are released, those in hand finish. */
  async drain(budgetMs: number, quiesce: (budgetMs: number) => Promise<void>): Promise<void> {
    const { clock } = this.#ports;
    this.#isStopping = true;
    this.#rivals.stop();
    this.#cancelRestart?.();
    const begunMs = clock.monotonicMs();
    const quiet = Promise.all([this.#stopHints?.(), this.#rest?.stop()]).catch(() => undefined);
    const life = this.#life;
    const tasks = isHeard('pod.drained') ? touchedBy(life) : [];
    tell('pod.draining', () => ({ pod: life?.id ?? '', budgetMs }));
    // The store may be away: then its rows say "up" until the sweep finds them.
    const stopped = life
      ?.stopClaiming()
      .catch((error) =>
        tell('store.failed', () => ({ what: 'markDraining', error: describeError(error) })),
      );
    await atMost(clock, Math.min(budgetMs / 4, 5_000), stopped);
    await quiesce(Math.max(0, budgetMs - (clock.monotonicMs() - begunMs) - LAST_WORDS_MS));
    const leftMs = budgetMs - (clock.monotonicMs() - begunMs);
    const ended = life
      ?.end(Math.max(LAST_WORDS_MS / 2, leftMs - 500))
      .catch((error) =>
        tell('store.failed', () => ({ what: 'fence', error: describeError(error) })),
      );
    await atMost(clock, Math.max(LAST_WORDS_MS, leftMs), Promise.all([ended, quiet]));
    life?.abandon();
    const elapsedMs = clock.monotonicMs() - begunMs;
    tell('pod.drained', () => ({ pod: life?.id ?? '', elapsedMs, tasks }));
  }

  /** Lets go at once; the rows are found by the sweep, or by the next process on this disk. */
  abandon(): void {
    this.#isStopping = true;
    this.#rivals.stop();
    this.#cancelRestart?.();
    this.#rest?.stop().catch(() => undefined);
    this.#entry?.life.abandon();
    this.#life?.abandon();
    this.#stopHints?.().catch(() => undefined);
  }

  get #isResting(): boolean {
    return this.#rest?.isResting ?? false;
  }

  /** One for suspects ends by itself, when it has nothing to do. */
  #restOf({ store, clock, isSuspectsOnly }: PodPorts): Rest | undefined {
    const { rest: times } = store.capabilities;
    if (!times || isSuspectsOnly) return undefined;
    return new Rest({ store, clock, times, onWake: () => this.#again() });
  }

  async #live(): Promise<void> {
    const entry = this.#entry ?? (await this.#enter(this.#events.onDrainWanted));
    this.#entry = undefined;
    if (!entry) return;
    const { life, seen } = entry;
    const { journal, name } = this.#ports;
    // Another life of this process has seen what this one has written since it began.
    const lsn = seen.boot === journal.boot ? journal.lsn : journal.lsnAtOpen;
    if (seen.boot > journal.boot || seen.lsn > lsn) {
      const message =
        `the store has seen boot ${seen.boot} and record ${seen.lsn} of this journal, which is at ` +
        `boot ${journal.boot} and record ${lsn}: it was put back to an earlier state`;
      tell('journal.alarm', () => ({ kind: 'behindStore', message }));
    }
    this.#life = life;
    tell('pod.registered', () => ({ pod: life.id, name, journal: journal.id, boot: journal.boot }));
    const onRival = this.#events.onDrainWanted;
    await life.start(seen, () => this.#rivals.outlast(life, seen, onRival));
    if (!life.isDead) this.#events.onJoined?.(seen);
  }

  #enter(onRival?: () => void): Promise<Entry | undefined> {
    const isStopping = () => this.#isStopping;
    return enter(this.#ports, { ...this.#newLife(), rivals: this.#rivals, isStopping, onRival });
  }

  #newLife(): { readonly life: Life; readonly nonce: string } {
    const nonce = this.#ports.random.hex(8);
    const life = new Life(
      {
        ...this.#ports,
        id: this.#mint(),
        memory: this.#memory,
        onDead: () => {
          this.#events.onDied?.();
          this.#again();
        },
        onDrainWanted: this.#events.onDrainWanted,
        onEnded: () => this.#events.onEnded?.(),
        onBeat: (beating) => {
          this.#rest?.look(beating);
          this.#events.onBeat?.(beating);
        },
      },
      nonce,
    );
    return { life, nonce };
  }

  /**
   * Until it works: the store may be away for a while after it has been back for a moment. Never twice
   * at a time, or there would be two lives in one process, each taken for the other's.
   */
  #again(): void {
    if (this.#isJoining) return;
    this.#isJoining = true;
    const ladder = new Ladder();
    const attempt = () => {
      if (this.#isStopping) return;
      const joining = this.#stopHints ? this.#live() : this.#join();
      joining.then(
        () => this.#joined(),
        (error) => {
          tell('store.failed', () => ({ what: 'register', error: describeError(error) }));
          this.#life?.die();
          this.#cancelRestart = this.#ports.clock.after(
            ladder.next(() => this.#ports.random.fraction()),
            attempt,
          );
        },
      );
    };
    attempt();
  }

  /** It may have been taken for dead before it had quite taken its place. */
  #joined(): void {
    this.#isJoining = false;
    if (!this.#isStopping && (this.#life?.isDead ?? true)) this.#again();
  }
}

function touchedBy(life: Life | undefined): TouchedTask[] {
  return [...(life?.holdings.all() ?? [])].map(({ claim }) => {
    return { run: claim.task, generation: claim.generation };
  });
}
