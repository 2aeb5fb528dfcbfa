/**
 * Takes over from earlier processes of the same journal: a sweep of one's own predecessors with
 * oneself as the new owner. The journal's lock proves that they are dead, so there is nothing to wait
 * for. A run goes on from the local records where they continue what the store has, and from the
 * store's otherwise; nothing that came from the store runs before the store has said whose it is.
 */
import type { Engine, LocalHold } from '../engine/index.ts';
import type { Clock, RunId } from '../ground/index.ts';
import {
  CHAIN_START,
  DamagedRunError,
  type EventRow,
  provedAfter,
  unlessDamaged,
} from '../journal/index.ts';
import {
  type Flush,
  type Head,
  type PodId,
  type Store,
  storeMoved,
  type TakenTask,
} from '../store/index.ts';
import { tell } from '../telemetry/events.ts';
import type { Acceptor } from './acceptor.ts';
import { fenceProven } from './fence-proven.ts';
import type { Footing } from './footing.ts';
import type { Forgetter } from './forgetter.ts';
import { HeldRun } from './held-run.ts';
import { segmentOf } from './history.ts';
import type { Holdings } from './holdings.ts';
import type { Keeper } from './keeper.ts';
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

/** Nothing here of it can be read. */
const LOST = { isUsable: false, isStored: false, last: undefined };

export class Adopter {
  readonly #ports: AdopterPorts;
  readonly #moves: number;

  constructor(ports: AdopterPorts) {
    this.#ports = ports;
    this.#moves = ports.footing.moves;
  }

  async adopt(predecessors: readonly PodId[]): Promise<void> {
    const { store, engine, clock, pod, silentMs, keeper } = this.#ports;
    const known = await this.#compare(await engine.held.localHolds());
    const begunMs = clock.monotonicMs();
    const touched: TakenTask[] = [];
    let isAll = true;
    for (const from of predecessors) {
      const hasDied = await fenceProven(from, { store, clock, by: pod, budgetMs: silentMs });
      const crashed = await this.#crashedIn(from, known);
      for (;;) {
        // Taken for dead, or found out as a clone: another life of this pod adopts.
        if (keeper.isDead) return;
        const countMax = BATCH_COUNT_MAX;
        const taking = { from, by: pod, to: 'taker', countMax, crashed, spreadMs: 0 } as const;
        const taken = await store.take(taking);
        if (taken.length === 0) break;
        this.#checkServer();
        touched.push(...taken);
        this.#tellAway(taken);
        await this.#goOn(taken, known, hasDied);
      }
      // Whoever has since been fenced, or is to drain, is given nothing, however much there is.
      isAll = (await store.retire(from)) && isAll;
    }
    this.#checkServer();
    // Of what was not taken, only that is sure to count which the store had already.
    for (const { hold, isStored } of known.values()) {
      if (isStored) engine.held.tellLeft(hold.run, hold.generation);
    }
    // Whatever is left here was settled, or taken by others: the store has it. While a predecessor has
    // anything, only this journal knows which of it was open.
    if (isAll) this.#ports.forgetter.forget([...known.keys()]);
    tell('pod.adopted', () => ({
      pod,
      pods: predecessors.length,
      runs: touched.length,
      elapsedMs: clock.monotonicMs() - begunMs,
      tasks: touched.map(({ task: run, generation }) => ({ run, generation })),
    }));
  }

  /**
   * Another server may lack what the one before was sent of these runs, or had of them: then the next life
   * of this pod adopts, and compares what is here with that one.
   */
  #checkServer = (): void => {
    if (this.#ports.footing.moves !== this.#moves) throw storeMoved();
  };

  /** What does not go on here: a suspect, what was to be cancelled, or one that has crashed too often. */
  #tellAway(taken: readonly TakenTask[]): void {
    const away = taken.filter(({ status }) => status !== 'claimed');
    tellFailed(away);
    tellTakenAway(away);
  }

  /**
   * Runs that this predecessor was executing when it died. One that it had only adopted, and never
   * recorded anything of, has not crashed it: however often recovery dies, a crash counts once.
   */
  async #crashedIn(from: PodId, known: ReadonlyMap<RunId, Known>): Promise<RunId[]> {
    const crashed: RunId[] = [];
    let after = '';
    for (;;) {
      const page = await this.#ports.store.held(from, after, BATCH_COUNT_MAX, 0);
      for (const { task, generation, epoch } of page) {
        const hold = known.get(task)?.hold;
        if (hold?.isOpen && hold.generation === generation && hold.epoch === epoch) {
          crashed.push(task);
        }
      }
      if (page.length < BATCH_COUNT_MAX) return crashed;
      after = page.at(-1)!.task;
    }
  }

  /**
   * Holds what is here against what the store has, and sends what it has not: whoever gets a run that
   * is not adopted then has all there is of it.
   */
  async #compare(holds: readonly LocalHold[]): Promise<Map<RunId, Known>> {
    const { store, footing } = this.#ports;
    const known = new Map<RunId, Known>();
    for (let from = 0; from < holds.length; from += BATCH_COUNT_MAX) {
      const page = holds.slice(from, from + BATCH_COUNT_MAX);
      const runs = page.map(({ run, generation }) => ({ task: run, generation }));
      const heads = new Map((await store.heads(runs)).map((head) => [head.task, head]));
      const tails: Flush[] = [];
      for (const hold of page) {
        const head = heads.get(hold.run);
        known.set(
          hold.run,
          unlessDamaged(() => this.#read(hold, head, tails)) ?? { hold, ...LOST },
        );
      }
      await footing.archive(tails);
    }
    return known;
  }

  #read(hold: LocalHold, head: Head | undefined, tails: Flush[]): Known {
    const { run, generation, epoch, version } = hold;
    const written = this.#ports.engine.held.written(run);
    const last = written.at(-1);
    if (!last) return { hold, ...LOST };
    const from = firstToSend(written, head);
    const isUsable = from !== undefined;
    if (isUsable) {
      const hash = written[from - 1]?.hash ?? CHAIN_START;
      // A damaged record must not come into the store, where it would be the run's own.
      const proved = provedAfter(run, written.slice(from), { seq: from - 1, hash });
      const tail = segmentOf({ task: run, generation, epoch }, hash, proved);
      if (tail) tails.push({ ...tail, version });
    } else if (head && head.epoch <= epoch && !this.#isOneBehind(hold, last, head)) {
      // Under a later epoch others have gone on with it, which is as it should be.
      const message = `the store has record ${head.lastSeq} of run ${run}, and the journal has not`;
      tell('journal.alarm', () => ({ kind: 'behindStore', message }));
    }
    return { hold, isUsable, isStored: from === written.length, last };
  }

  /** What persists in the store is on record there first: a process that died then is one behind. */
  #isOneBehind({ run, version }: LocalHold, last: EventRow, head: Head): boolean {
    if (head.lastSeq !== last.seq + 1) return false;
    return this.#ports.engine.held.isStoring(run, { version, state: last.state });
  }

  /** `hasDied`: nobody had fenced the predecessor, itself included. */
  async #goOn(
    taken: readonly TakenTask[],
    known: Map<RunId, Known>,
    hasDied: boolean,
  ): Promise<void> {
    const others: TakenTask[] = [];
    const resumed: Promise<void>[] = [];
    for (const task of taken) {
      if (task.status !== 'claimed') continue;
      const found = known.get(task.task);
      known.delete(task.task);
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
  async #resume(task: TakenTask, { last }: Known, hasDied: boolean): Promise<void> {
    const { engine, holdings, keeper, pod, acceptor } = this.#ports;
    const held = new HeldRun(task, last!, keeper);
    holdings.put(held);
    const { interruption, deadlineMs, ageMs } = task;
    try {
      engine.held.tellLeft(task.task, task.generation);
      await engine.held.resume(task.task, held, { pod, interruption, deadlineMs, ageMs });
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

/**
 * Which of these records is the first that the store has not; undefined where it has others in their
 * place. What a former owner has flushed late is no others: whoever wrote here went on from before that.
 */
function firstToSend(written: readonly EventRow[], head: Head | undefined): number | undefined {
  if (!head) return 0;
  if (written[head.lastSeq]?.hash === head.lastHash) return head.lastSeq + 1;
  const later = written.findIndex(({ epoch }) => epoch > head.epoch);
  return later < 0 ? undefined : later;
}
