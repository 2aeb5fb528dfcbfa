/** The machines a process can run, by name and version. */
import { show } from '../ground/index.ts';
import { RegistryError } from './errors.ts';
import { type Plan, planOf, routeOf } from './plan.ts';

export class Registry {
  /** By name, then by version: every run of a start looks here, and a route would be built for each. */
  readonly #plans = new Map<string, Map<number, Plan>>();

  constructor(machines: readonly unknown[]) {
    if (!Array.isArray(machines)) {
      throw new RegistryError(`machines must be an array of machines, got ${show(machines)}`);
    }
    machines.forEach((machine, index) => {
      const plan = planOf(machine);
      if (!plan) {
        throw new RegistryError(
          `machines[${index}] must come from defineMachine, got ${show(machine)}`,
        );
      }
      const known = this.find(plan.name, plan.version);
      if (known && known !== plan) {
        throw new RegistryError(`two machines are called ${routeOf(plan)}`, {
          hint: 'give one of them another name, or raise its version',
        });
      }
      const versions = this.#plans.get(plan.name) ?? new Map<number, Plan>();
      this.#plans.set(plan.name, versions.set(plan.version, plan));
    });
  }

  /** The plan of that name and version, if this process has it. */
  find(name: string, version: number): Plan | undefined {
    return this.#plans.get(name)?.get(version);
  }

  /** Every version of that name, the newest first. */
  versions(name: string): Plan[] {
    return [...(this.#plans.get(name)?.values() ?? [])].sort((a, b) => b.version - a.version);
  }

  /** The newest version of that name. */
  newest(name: string): Plan {
    const [newest] = this.versions(name);
    if (newest) return newest;
    const names = [...new Set(this.all().map((plan) => plan.name))].sort();
    throw new RegistryError(`there is no machine called ${show(name)}`, {
      hint: names.length > 0 ? `there are: ${names.join(', ')}` : 'no machine is registered',
    });
  }

  all(): Plan[] {
    return [...this.#plans.values()].flatMap((versions) => [...versions.values()]);
  }
}
