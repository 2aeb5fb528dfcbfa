/**
 * Shows the fleet what was started on this host. A local run belongs to its journal and goes on with or
 * without a store; its row in the store is a picture of it: claimed by this pod, pinned to the journal,
 * followed by its records and its end. Nobody else ever takes it.
 */
import type { LiveRun, Shadow } from '../engine/index.ts';
import {
  type Cancel,
  type Clock,
  describeError,
  jittered,
  type Random,
  type RunId,
} from '../ground/index.ts';
import type { Journal } from '../journal/index.ts';
import type { Ending } from '../machine/index.ts';
import { type ClaimedTask, RECOVERY_PREFIX, type Store } from '../store/index.ts';
import { tell } from '../telemetry/events.ts';
import { HeldRun } from './held-run.ts';
import type { Life } from './life.ts';
import { Picture, shownOf } from './picture.ts';
import { Unshown } from './unshown.ts';

const SHOW_MS = 300;
const RETRY_MS = 5_000;
/** Beyond so many that wait to be shown, runs that have ended are left to the journal. */
const UNSEEN_COUNT_MAX = 5_000;
/** Records after which a run is of another version than before. */
const MOVES: ReadonlySet<string> = new Set(['ADVANCED', 'UPGRADED']);

export interface MirrorPorts {
  readonly store: Pick<Store, 'mirror' | 'heads' | 'find'>;
  readonly journal: Journal;
  readonly clock: Clock;
  readonly random: Random;
  readonly life: () => Life | undefined;
}

export class Mirror {
  readonly #ports: MirrorPorts;
  readonly #pictures = new Map<RunId, Picture>();
  /** Those the store has not heard of. */
  readonly #unseen = new Set<Picture>();
  readonly #unshown: Unshown;
  #cancel: Cancel | undefined;
  #isShowing = false;
  #isStopped = false;

  constructor(ports: MirrorPorts) {
    this.#ports = ports;
    this.#unshown = new Unshown(ports);
  }

  /** How many runs are in memory for this; tests of its bound read it. */
  get size(): number {
    return this.#pictures.size;
  }

  /** A local run is in memory: what it comes to is shown from now on. */
  shadow(run: LiveRun): Shadow {
    const known = this.#pictures.get(run.id);
    if (known) return known;
    const { startedAt, deadlineAt, input } = run.state;
    const { name: machine, version } = run.plan;
    const deadlineMs = deadlineAt === undefined ? undefined : deadlineAt - startedAt;
    const of = { id: run.id, machine, version, startedAt, deadlineMs };
    const picture = new Picture(of, (changed) => this.#changed(changed));
    picture.payload = JSON.stringify(input);
    this.#pictures.set(run.id, picture);
    // A recovery that finds nothing to do is nobody's business; one that does shows itself then.
    if (!run.plan.name.startsWith(RECOVERY_PREFIX)) this.#showSoon(picture);
    return picture;
  }

  /** Rows of this journal that have become this pod's: their runs are here, or were. */
  async adopt(tasks: readonly ClaimedTask[]): Promise<void> {
    if (tasks.length === 0) return;
    const { store, journal } = this.#ports;
    const heads = await store.heads(tasks);
    for (const task of tasks) {
      const furthest = heads.find((found) => found.task === task.task);
      // A server that took over may have this claim and not the next, under which records were written
      // again: nothing goes on behind those under an epoch before theirs, so all is told anew.
      const head = furthest && furthest.epoch <= task.epoch ? furthest : undefined;
      const row = journal.hasRun(task.task) ? journal.find(task.task) : undefined;
      if (!row) this.#failGone(task);
      else this.#hold(task, head?.lastSeq ?? -1, head?.lastHash ?? '', row.ending);
    }
  }

  /** What ended here while an earlier process could not show it; the store has seen this far. */
  recall(seenLsn: number): void {
    this.#unshown.since(seenLsn);
    this.#showAfter(SHOW_MS);
  }

  /** Once there is room for a page: what it brings is shown with the next ones. */
  async #recallPage(): Promise<void> {
    if (this.#unshown.isEmpty || this.#unseen.size > UNSEEN_COUNT_MAX / 2) return;
    for (const row of await this.#unshown.nextPage()) {
      if (this.#pictures.has(row.id)) continue;
      const picture = new Picture({ ...row, deadlineMs: undefined }, () => undefined);
      picture.ending = row.ending;
      this.#pictures.set(row.id, picture);
      this.#unseen.add(picture);
    }
  }

  /** The store has lost their rows: they are shown again. */
  reshow(runs: readonly RunId[]): void {
    for (const id of runs) {
      const picture = this.#pictures.get(id);
      if (!picture) continue;
      picture.held = undefined;
      this.#showSoon(picture);
    }
  }

  /** Another life of this pod: the rows are the old one's until they are adopted or swept. */
  forgetClaims(): void {
    for (const picture of this.#pictures.values()) {
      picture.held = undefined;
      this.#unseen.add(picture);
    }
    this.#showAfter(this.#retryMs());
  }

  /** Hosts that lost the store at one moment must not all come back to it at one. */
  #retryMs(): number {
    return jittered(RETRY_MS, this.#ports.random.fraction());
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancel?.();
  }

  #changed(picture: Picture): void {
    if (picture.held) {
      if (picture.ending) this.#pictures.delete(picture.of.id);
      return;
    }
    if (picture.of.machine.startsWith(RECOVERY_PREFIX)) {
      if (!picture.hasGoneOn) return;
      if (picture.ending?.outcome === 'handedOff') {
        return this.#remove(picture);
      }
    }
    this.#showSoon(picture);
  }

  #showSoon(picture: Picture): void {
    this.#unseen.add(picture);
    if (picture.ending && this.#unseen.size > UNSEEN_COUNT_MAX) {
      this.#remove(picture);
      this.#unshown.forget(picture.of.id);
    }
    this.#showAfter(SHOW_MS);
  }

  #remove(picture: Picture): void {
    this.#unseen.delete(picture);
    this.#pictures.delete(picture.of.id);
  }

  #showAfter(ms: number): void {
    if (this.#cancel || this.#isStopped) return;
    if (this.#unseen.size === 0 && this.#unshown.isEmpty) return;
    this.#cancel = this.#ports.clock.after(
      ms,
      () => {
        this.#cancel = undefined;
        if (!this.#isShowing) this.#showAll();
      },
      { idle: true },
    );
  }

  #showAll(): void {
    this.#isShowing = true;
    this.#show()
      .catch((error) => {
        tell('store.failed', () => ({ what: 'mirror', error: describeError(error) }));
        return this.#retryMs();
      })
      .then((waitMs) => {
        this.#isShowing = false;
        this.#showAfter(waitMs);
      });
  }

  /** Answers how long to wait before the next of them are shown. */
  async #show(): Promise<number> {
    const life = this.#ports.life();
    if (!life?.isReady) return this.#retryMs();
    await this.#recallPage();
    const { store, journal, clock } = this.#ports;
    const { shown, gone } = shownOf(this.#unseen, journal, clock.now());
    for (const picture of gone) this.#remove(picture);
    const batch = shown.map(({ picture }) => picture);
    const runs = shown.map(({ run }) => run);
    const answers = runs.length === 0 ? [] : await store.mirror(life.id, runs);
    if (life !== this.#ports.life()) return SHOW_MS;
    let refused = 0;
    for (const [index, picture] of batch.entries()) {
      const answer = answers[index]!;
      if (answer.kind === 'foreign') refused++;
      else if (!picture.held) {
        // It may have ended meanwhile, and then nothing but this knows of it any more.
        this.#hold({ ...answer, keyGeneration: 1 }, -1, '', this.#endingOf(picture));
      }
    }
    // The row is there, and another's for now: a sweep or an adoption gives it back.
    return refused > 0 && refused === batch.length ? this.#retryMs() : SHOW_MS;
  }

  /** From here on the store is told what the journal has, and what comes. */
  #hold(
    task: Pick<ClaimedTask, 'task' | 'generation' | 'epoch' | 'keyGeneration'> &
      Partial<Pick<ClaimedTask, 'version'>>,
    seq: number,
    hash: string,
    ending: Ending | undefined,
  ): void {
    const life = this.#ports.life();
    if (!life || life.isDead) return;
    const written = this.#ports.journal.rows(task.task);
    const held = new HeldRun(task, { seq, hash, state: written[seq]?.state }, life);
    held.isMirror = true;
    // It may have been shown before under the version that it had then.
    const isMoved = task.version !== undefined || written.some(({ event }) => MOVES.has(event));
    const row = isMoved ? this.#ports.journal.find(task.task) : undefined;
    if (row) held.standsUnder(row.version);
    life.holdings.put(held);
    for (const record of written.slice(seq + 1)) held.recorded(record);
    const picture = this.#pictures.get(task.task);
    if (picture) {
      picture.held = held;
      this.#unseen.delete(picture);
    }
    const end = ending ?? (picture && this.#endingOf(picture));
    if (!end) return;
    this.#pictures.delete(task.task);
    held.ended(end);
  }

  /** The journal has all of it; where it has forgotten the run since, that it ended is what is left. */
  #endingOf({ of, ending }: Picture): Ending | undefined {
    return ending && (this.#ports.journal.find(of.id)?.ending ?? ending);
  }

  #failGone(task: ClaimedTask): void {
    const life = this.#ports.life();
    if (!life || life.isDead) return;
    const held = new HeldRun(task, { seq: -1, hash: '', state: undefined }, life);
    life.holdings.put(held);
    const message = 'the journal it is pinned to no longer has it';
    held.fail('aborted', { name: 'RunGoneError', code: 'FLEETQ_RUN_GONE', message });
  }
}
