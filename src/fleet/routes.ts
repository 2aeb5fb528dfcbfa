/**
 * What a pod claims: the routes of its own machines, and those of older versions that no pod which is
 * up has any more. While one has them the newer version takes nothing away from it, so a deploy that is
 * taken back in the middle leaves most runs where they were. Which are abandoned can only change with
 * the fleet, so the store is asked when the fleet has changed.
 */
import { describeError } from '../ground/index.ts';
import { type Registry, routeOf } from '../machine/index.ts';
import { type Headcount, RECOVERY_PREFIX, type Store } from '../store/index.ts';
import { tell } from '../telemetry/events.ts';
import type { HeldRun } from './held-run.ts';

export interface RoutesPorts {
  readonly store: Pick<Store, 'abandoned'>;
  readonly registry: Registry;
}

export class Routes {
  readonly #ports: RoutesPorts;
  readonly own: readonly string[];
  /** Machines of which there may have been an older version. */
  readonly #machines: readonly string[];
  #taken: readonly string[] = [];
  #mark = '';
  #isKeyMissing = false;
  #looking: Promise<void> | undefined;

  constructor(ports: RoutesPorts) {
    this.#ports = ports;
    const plans = ports.registry.all().filter(({ name }) => !name.startsWith(RECOVERY_PREFIX));
    this.own = plans.map(routeOf);
    this.#machines = [...new Set(plans.filter(isLater).map(({ name }) => name))];
  }

  get all(): readonly string[] {
    return this.#taken.length > 0 ? [...this.own, ...this.#taken] : this.own;
  }

  /** Whoever has its version, or its key, goes on with it; it is left alone for a while otherwise. */
  giveBack(held: HeldRun, reason: string, waitsFor?: 'key'): void {
    tell('task.blocked', () => ({ run: held.claim.task, reason }));
    if (waitsFor === 'key') return this.#giveBackSealed(held, reason);
    // Changed under its version here: given back at once, it would come again and again.
    if (this.own.includes(held.route)) return held.shelved();
    const isOurs = () => this.#taken.includes(held.route);
    if (!isOurs()) return held.released();
    // One that has it may have come since: then it need not wait.
    this.look().then(() => (isOurs() ? held.shelved() : held.released()));
  }

  /** It comes again every minute; people are told once, for a key is theirs to give. */
  #giveBackSealed(held: HeldRun, reason: string): void {
    if (!this.#isKeyMissing) {
      const message = `${reason}; such tasks wait for a pod that has it`;
      tell('journal.alarm', () => ({ kind: 'keyMissing', message }));
    }
    this.#isKeyMissing = true;
    held.sealed();
  }

  /** Looks again where other pods are up than before. Answers whether there is more to claim. */
  async follow({ mark }: Pick<Headcount, 'mark'>): Promise<boolean> {
    if (mark === this.#mark) return false;
    const before = new Set(this.#taken);
    if (await this.look()) this.#mark = mark;
    return this.#taken.some((route) => !before.has(route));
  }

  /** Answers whether the store could be asked; where not, what was known goes on to count. */
  async look(): Promise<boolean> {
    if (this.#machines.length === 0) return true;
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
    try {
      await this.#looking;
      return true;
    } catch (error) {
      tell('store.failed', () => ({ what: 'abandoned', error: describeError(error) }));
      return false;
    }
  }

  async #look(): Promise<void> {
    const { store, registry } = this.#ports;
    const routes = await store.abandoned(this.#machines);
    this.#taken = routes.filter((route) => {
      const { machine, version } = partsOf(route);
      const [newest] = registry.versions(machine);
      return newest !== undefined && version < newest.version && !this.own.includes(route);
    });
  }
}

function isLater({ version }: { readonly version: number }): boolean {
  return version > 1;
}

function partsOf(route: string): { readonly machine: string; readonly version: number } {
  const at = route.lastIndexOf('@');
  return { machine: route.slice(0, at), version: Number(route.slice(at + 1)) };
}
