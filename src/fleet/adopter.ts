/**
 * Takes over from earlier processes of the same journal: a sweep of one's own predecessors with
 * oneself as the new owner. The journal's lock proves that they are dead, so there is nothing to wait
 * for. A run goes on from the local records where they continue what the store has, and from the
 * store's otherwise; nothing that came from the store runs before the store has said whose it is.
 */
import type { Engine, LocalHold } from '../engine/index.ts';
import { type Clock, describeError, pause, type RunId } from '../ground/index.ts';
import {
  CHAIN_START,
  DamagedRunError,
  type EventRow,
  type HeldRow,
  provedAfter,
} from '../journal/index.ts';
import {
  type Flush,
  type Head,
  type PodId,
  type Store,
  storeMoved,
  type TakenTask,
  type Taking,
} from '../store/index.ts';
import { type TouchedTask, tell } from '../telemetry/events.ts';
import type { Acceptor } from './acceptor.ts';
import { fenceProven } from './fence-proven.ts';
import type { Footing } from './footing.ts';
import type { Forgetter } from './forgetter.ts';
import { HeldRun } from './held-run.ts';
import { firstToSend, segmentOf } from './history.ts';
import type { Holdings } from './holdings.ts';
import type { Keeper } from './keeper.ts';
import { Ladder } from './ladder.ts';
import { tellFailed, tellTakenAway } from './tell-taken.ts';

const BATCH_COUNT_MAX = 500;

export interface AdopterPorts {
  readonly store: Store;
  /** What was found missing on one server is not written to the next, which may lack more. */
  readonly footing: Pick<Footing, 'archive' | 'moves'>;
  readonly engine: Engine;
  readonly acceptor: Acceptor;
  readonly holdings: Holdings;
  readonly keeper: Keeper;
  readonly forgetter: Forgetter;
  readonly pod: PodId;
  readonly clock: Clock;
  readonly silentMs: number;
}

/** What is here of a run, and whether it goes on from what the store has. */
interface Known {
  readonly hold: LocalHold;
  readonly isUsable: boolean;
  /** The store had all of it before. */
  readonly isStored: boolean;
  readonly last: Pick<EventRow, 'seq' | 'hash' | 'state'> | undefined;
}

type Left = HeldRow & Pick<Known, 'isStored'>;

export class Adopter {
  readonly #ports: AdopterPorts;
  #moves: number;
  /** Predecessors that are dead by now, and whether nobody had fenced them before, themselves included. */
  readonly #dead = new Map<PodId, boolean>();
  /** What this disk has of runs with which it has not gone on. */
  readonly #left = new Map<RunId, Left>();
  readonly #touched: TouchedTask[] = [];
  #begunMs = 0;
  #isAllFenced = true;

  constructor(ports: AdopterPorts) {
    this.#ports = ports;
    this.#moves = ports.footing.moves;
  }

  /** Resolves when all that predecessors had claimed goes on here. What they showed of this host is left. */
  async adopt(predecessors: readonly PodId[]): Promise<void> {
    const { engine, clock, keeper } = this.#ports;
    this.#begunMs = clock.monotonicMs();
    // First of all: what the store has of their runs is not compared while it may still change.
    for (const from of predecessors) await this.#fence(from);
    for await (const page of engine.held.localHolds()) {
      // Taken for dead, or found out as a clone: another life of this pod adopts.
      if (keeper.isDead) return;
      await this.#adoptPage(page);
    }
    await this.#adoptRest('free');
    // Of what was not taken, only that is sure to count which the store had already.
    for (const { run, generation, isStored } of this.#left.values()) {
      if (isStored) engine.held.tellLeft(run, generation);
    }
  }

  /**
   * What predecessors showed of the runs of this host is shown by this pod; then they are no more. The runs
   * themselves go on without that, so it is tried until it works.
   */
  async finish(chance: () => number): Promise<void> {
    const { clock, keeper } = this.#ports;
    const ladder = new Ladder();
    while (!keeper.isDead) {
      try {
        return await this.#finish();
      } catch (error) {
        tell('store.failed', () => ({ what: 'adopt', error: describeError(error) }));
        await pause(clock, ladder.next(chance));
      }
    }
  }

  async #finish(): Promise<void> {
    const { store, clock, pod, forgetter, keeper } = this.#ports;
    await this.#followServer();
    await this.#adoptRest();
    if (keeper.isDead) return;
    let isAll = this.#isAllFenced;
    // Whoever has since been fenced, or is to drain, is given nothing, however much there is.
    for (const from of this.#dead.keys()) isAll = (await store.retire(from)) && isAll;
    this.#checkServer();
    // Whatever is left here was settled, or taken by others: the store has it. While a predecessor has
    // anything, only this journal knows which of it was open.
    if (isAll) forgetter.forget([...this.#left.keys()]);
    tell('pod.adopted', () => ({
      pod,
      pods: this.#dead.size,
      runs: this.#touched.length,
      elapsedMs: clock.monotonicMs() - this.#begunMs,
      tasks: this.#touched,
    }));
  }

  /** One that has taken over meanwhile may lack what the one before was sent. */
  async #followServer(): Promise<void> {
    const { engine, footing } = this.#ports;
    const { moves } = footing;
    if (moves === this.#moves) return;
    const left = [...this.#left.values()];
    for await (const page of engine.held.localHolds(left)) await this.#compare(page);
    this.#moves = moves;
  }

  async #fence(from: PodId): Promise<void> {
    const { store, clock, pod, silentMs } = this.#ports;
    const hasDied = await fenceProven(from, { store, clock, by: pod, budgetMs: silentMs });
    if (hasDied === undefined) this.#isAllFenced = false;
    else this.#dead.set(from, hasDied);
  }

  /** Only under the epochs that are on this disk: what was claimed since then, this disk knows nothing of. */
  async #adoptPage(page: readonly LocalHold[]): Promise<void> {
    const known = await this.#compare(page);
    const crashed = page.filter(({ isOpen }) => isOpen).map(({ run }) => run);
    const only = page.map(({ run: task, epoch }) => ({ task, epoch }));
    for (const [from, hasDied] of this.#dead) {
      await this.#goOn(await this.#take({ from, crashed, only }), known, hasDied);
    }
  }

  /** Of these this disk has nothing, or what they were under an earlier claim: nobody has crashed in them. */
  async #adoptRest(only?: 'free'): Promise<void> {
    for (const [from, hasDied] of this.#dead) {
      for (;;) {
        const taken = await this.#take({ from, crashed: [], only });
        if (taken.length === 0) break;
        const known = new Map<RunId, Known>();
        const left = taken.flatMap(({ task }) => this.#left.get(task) ?? []);
        for await (const page of this.#ports.engine.held.localHolds(left)) {
          for (const [run, found] of await this.#compare(page)) known.set(run, found);
        }
        await this.#goOn(taken, known, hasDied);
      }
    }
  }

  async #take(taking: Pick<Taking, 'from' | 'crashed' | 'only'>): Promise<TakenTask[]> {
    const { store, pod, keeper } = this.#ports;
    if (keeper.isDead) return [];
    const countMax = BATCH_COUNT_MAX;
    const taken = await store.take({ ...taking, by: pod, to: 'taker', countMax, spreadMs: 0 });
    this.#checkServer();
    for (const { task: run, generation } of taken) this.#touched.push({ run, generation });
    // What does not go on here: a suspect, what was to be cancelled, or one that has crashed too often.
    const away = taken.filter(({ status }) => status !== 'claimed');
    tellFailed(away);
    tellTakenAway(away);
    return taken;
  }

  /**
   * Another server may lack what the one before was sent of these runs, or had of them: then the next life
   * of this pod adopts, and compares what is here with that one.
   */
  #checkServer = (): void => {
    if (this.#ports.footing.moves !== this.#moves) throw storeMoved();
  };

  /**
   * Holds what is here against what the store has, and sends what it has not: whoever gets a run that
   * is not adopted then has all there is of it.
   */
  async #compare(page: readonly LocalHold[]): Promise<Map<RunId, Known>> {
    const { store, footing } = this.#ports;
    const runs = page.map(({ run, generation }) => ({ task: run, generation }));
    const heads = new Map((await store.heads(runs)).map((head) => [head.task, head]));
    const known = new Map<RunId, Known>();
    const tails: Flush[] = [];
    for (const hold of page) {
      const found = this.#read(hold, heads.get(hold.run), tails);
      const { run, generation, epoch, version } = hold;
      known.set(run, found);
      this.#left.set(run, { run, generation, epoch, version, isStored: found.isStored });
    }
    await footing.archive(tails);
    return known;
  }

  #read(hold: LocalHold, head: Head | undefined, tails: Flush[]): Known {
    const { run, generation, epoch, version, rows } = hold;
    const last = rows.at(-1);
    if (!last) return { hold, isUsable: false, isStored: false, last };
    const from = firstToSend(rows, head);
    const isUsable = from !== undefined;
    if (isUsable) {
      const hash = rows[from - 1]?.hash ?? CHAIN_START;
      // A damaged record must not come into the store, where it would be the run's own.
      const proved = provedAfter(run, rows.slice(from), { seq: from - 1, hash });
      const tail = segmentOf({ task: run, generation, epoch }, hash, proved);
      if (tail) tails.push({ ...tail, version });
    } else if (head && head.epoch <= epoch && !this.#isOneBehind(hold, last, head)) {
      // Under a later epoch others have gone on with it, which is as it should be.
      const message = `the store has record ${head.lastSeq} of run ${run}, and the journal has not`;
      tell('journal.alarm', () => ({ kind: 'behindStore', message }));
    }
    return { hold, isUsable, isStored: from === rows.length, last };
  }

  /** What persists in the store is on record there first: a process that died then is one behind. */
  #isOneBehind({ run, version }: LocalHold, last: EventRow, head: Head): boolean {
    if (head.lastSeq !== last.seq + 1) return false;
    return this.#ports.engine.held.isStoring(run, { version, state: last.state });
  }

  /** `hasDied`: nobody had fenced the predecessor, itself included. */
  async #goOn(
    taken: readonly TakenTask[],
    known: ReadonlyMap<RunId, Known>,
    hasDied: boolean,
  ): Promise<void> {
    const others: TakenTask[] = [];
    const resumed: Promise<void>[] = [];
    this.#checkServer();
    for (const task of taken) {
      if (task.status !== 'claimed') continue;
      const found = known.get(task.task);
      this.#left.delete(task.task);
      if (found?.isUsable && found.hold.generation === task.generation) {
        resumed.push(this.#resume(task, found, hasDied));
      } else {
        const isUnknown = found ? !found.isUsable : !this.#ports.engine.held.knowsAll;
        others.push(isUnknown ? cutOff(task, hasDied) : task);
      }
    }
    const { acceptor } = this.#ports;
    await Promise.all([...resumed, acceptor.accept(others, { onRead: this.#checkServer })]);
  }

  /**
   * All that is here was archived before, so nothing is left to send. Where it turns out to be damaged, the
   * run goes on from what the store has.
   */
  async #resume(task: TakenTask, { hold, last }: Known, hasDied: boolean): Promise<void> {
    const { engine, holdings, keeper, pod, acceptor } = this.#ports;
    const held = new HeldRun(task, last!, keeper);
    holdings.put(held);
    const { interruption, deadlineMs, ageMs } = task;
    try {
      await engine.held.resume(hold, held, { pod, interruption, deadlineMs, ageMs });
    } catch (error) {
      if (!(error instanceof DamagedRunError)) throw error;
      held.isOver = true;
      holdings.remove(held);
      return acceptor.accept([cutOff(task, hasDied)], { onRead: this.#checkServer });
    }
    if (task.control === 'cancel' && !held.isOver) {
      engine.cancel(task.task, 'cancelled by request').catch(() => undefined);
    }
  }
}

/** Of what the journal has lost nobody knows whether a phase was open: `check` is asked. */
function cutOff(task: TakenTask, hasDied: boolean): TakenTask {
  const interruption = (!hasDied && task.interruption) || 'cut';
  return { ...task, interruption, cutEpoch: task.previousEpoch };
}
