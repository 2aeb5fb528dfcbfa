/** The machines a process can run, by name and version. */
import { show } from '../ground/index.ts';
import { RegistryError } from './errors.ts';
import { type Plan, planOf, routeOf } from './plan.ts';

export class Registry {
  readonly #plans = new Map<string, Plan>();

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
      const route = routeOf(plan);
      const known = this.#plans.get(route);
      if (known && known !== plan) {
        throw new RegistryError(`two machines are called ${route}`, {
          hint: 'give one of them another name, or raise its version',
        });
      }
      this.#plans.set(route, plan);
    });
  }

  /** The plan of that name and version, if this process has it. */
  find(name: string, version: number): Plan | undefined {
    return this.#plans.get(routeOf({ name, version }));
  }

  /** The newest version of that name. */
  newest(name: string): Plan {
    const plans = this.all().filter((plan) => plan.name === name);
    const newest = plans.sort((a, b) => b.version - a.version)[0];
    if (newest) return newest;
    const names = [...new Set(this.all().map((plan) => plan.name))].sort();
    throw new RegistryError(`there is no machine called ${show(name)}`, {
      hint: names.length > 0 ? `there are: ${names.join(', ')}` : 'no machine is registered',
    });
  }

  all(): Plan[] {
    return [...this.#plans.values()];
  }
}
