/** The runs a process has in hand: those in memory, those set aside, and who waits for their end. */
import type { RunId } from '../ground/index.ts';
import type { Ending } from '../machine/index.ts';
import { Asides, type SetAside } from './asides.ts';
import { DrainingError, RunSetAsideError } from './errors.ts';
import type { LiveRun } from './live-run.ts';

interface Waiter {
  readonly resolve: (ending: Ending) => void;
  readonly reject: (error: unknown) => void;
}

export class RunTable {
  readonly live = new Map<RunId, LiveRun>();
  readonly setAside = new Asides();
  /** Held runs that were inside a phase when they were let go of, and may come back: since which record. */
  readonly wasOpen = new Map<RunId, number>();
  /** Runs that were let go of while a record of them was on its way to the disk. */
  readonly letGo = new Map<RunId, Promise<void>>();
  /** Runs of a version that is not here: who goes on with them is being found out and recorded. */
  readonly succeeding = new Map<RunId, Promise<void>>();
  readonly #waiters = new Map<RunId, Set<Waiter>>();
  /** The last sign of life of the process before this one, where somebody wants to know. */
  seenAt: number | undefined = undefined;
  /** The process is on its way out: no run begins, and none begins another phase. */
  isDraining = false;
  /** The journal is, or is about to be, closed: nothing is recorded any more. */
  isClosed = false;

  /**
   * Resolves when the run ends here. A process that lets go of it first says so by an error; a caller
   * whose signal aborts is forgotten at once, however long the run goes on.
   */
  whenEnded(id: RunId, until?: AbortSignal | undefined): Promise<Ending> {
    if (this.isClosed) return Promise.reject(new DrainingError());
    if (until?.aborted) return Promise.reject(until.reason);
    return new Promise((resolve, reject) => {
      const waiter = { resolve, reject };
      this.#wait(id, until ? this.#untilAborted(id, waiter, until) : waiter);
    });
  }

  #wait(id: RunId, waiter: Waiter): void {
    const waiters = this.#waiters.get(id);
    if (waiters) waiters.add(waiter);
    else this.#waiters.set(id, new Set([waiter]));
  }

  #untilAborted(id: RunId, { resolve, reject }: Waiter, until: AbortSignal): Waiter {
    const onAbort = () => {
      const waiters = this.#waiters.get(id);
      waiters?.delete(waiter);
      if (waiters?.size === 0) this.#waiters.delete(id);
      reject(until.reason);
    };
    const waiter: Waiter = {
      resolve: (ending) => {
        until.removeEventListener('abort', onAbort);
        resolve(ending);
      },
      reject: (error) => {
        until.removeEventListener('abort', onAbort);
        reject(error);
      },
    };
    until.addEventListener('abort', onAbort, { once: true });
    return waiter;
  }

  /** For whoever looks after memory. */
  get waiterCount(): number {
    let count = 0;
    for (const waiters of this.#waiters.values()) count += waiters.size;
    return count;
  }

  /** The run is no longer ours: whoever waits for it here has to ask elsewhere. */
  lose(run: LiveRun, reason: Error): void {
    if (this.live.get(run.id) === run) this.live.delete(run.id);
    if (run.appending) {
      const forget = () => {
        if (this.letGo.get(run.id) === gone) this.letGo.delete(run.id);
      };
      // Nobody need wait for it, and what a full disk did not take is then not there.
      const gone = run.appending.then(forget, forget);
      this.letGo.set(run.id, gone);
    }
    for (const waiter of this.#takeWaiters(run.id)) waiter.reject(reason);
  }

  /** Parked, released or settled: the run leaves without an end of its own. */
  leave(run: LiveRun): void {
    if (this.live.get(run.id) === run) this.live.delete(run.id);
  }

  end(id: RunId, ending: Ending): void {
    this.live.delete(id);
    this.setAside.delete(id);
    for (const waiter of this.#takeWaiters(id)) waiter.resolve(ending);
  }

  /** The run stands still here: nobody should wait for it any longer. */
  putAside(id: RunId, aside: SetAside): void {
    this.live.delete(id);
    this.setAside.set(id, aside);
    const waiters = this.#takeWaiters(id);
    if (waiters.size === 0) return;
    const error = new RunSetAsideError(id, aside.status, aside.reason);
    for (const waiter of waiters) waiter.reject(error);
  }

  #takeWaiters(id: RunId): ReadonlySet<Waiter> {
    const waiters = this.#waiters.get(id);
    if (!waiters) return NOBODY;
    this.#waiters.delete(id);
    return waiters;
  }

  close(): void {
    this.isClosed = true;
    for (const id of [...this.#waiters.keys()]) {
      for (const waiter of this.#takeWaiters(id)) waiter.reject(new DrainingError());
    }
  }
}

const NOBODY: ReadonlySet<Waiter> = new Set();
