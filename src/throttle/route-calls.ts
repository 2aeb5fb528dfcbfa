/**
 * Which APIs the runs of a machine have lately called. Where each of them calls one, what another has no
 * room for says nothing of it; where one calls several, it needs room at each.
 */
export class RouteCalls {
  readonly #lastMs = new Map<string, Map<string, number>>();
  readonly #severalMs = new Map<string, number>();
  /** What a phase called first, for as long as there is such a phase. */
  readonly #first = new WeakMap<object, string>();

  note(route: string, api: string, phase: object | undefined, nowMs: number): void {
    const apis = this.#lastMs.get(route) ?? new Map<string, number>();
    this.#lastMs.set(route, apis.set(api, nowMs));
    if (!phase) return;
    const first = this.#first.get(phase);
    if (first === undefined) this.#first.set(phase, api);
    else if (first !== api) this.#severalMs.set(route, nowMs);
  }

  /** Whether its runs have called this API since then. */
  hasCalled(api: string, route: string, fromMs: number): boolean {
    return (this.#lastMs.get(route)?.get(api) ?? Number.NEGATIVE_INFINITY) > fromMs;
  }

  /** Other APIs than this that its runs have called since then, if each of them calls one. */
  othersThan(api: string, route: string, fromMs: number): string[] {
    if ((this.#severalMs.get(route) ?? Number.NEGATIVE_INFINITY) > fromMs) return [];
    const apis = this.#lastMs.get(route) ?? new Map<string, number>();
    for (const [name, lastMs] of apis) if (lastMs <= fromMs) apis.delete(name);
    return [...apis.keys()].filter((name) => name !== api);
  }
}
