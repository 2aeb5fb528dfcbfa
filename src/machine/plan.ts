/**
 * A definition after it was read, checked and copied: what the engine works from. Nothing the author
 * does to the literal afterwards reaches it.
 */
import type { Backoff, Duration } from '../ground/index.ts';
import type { Chart } from './chart.ts';
import type { AnySchema, Machine, PersistIn, Phase } from './types.ts';

/** What every phase function looks like from inside: types were checked at the definition. */
export type PhaseFunction = (context: object) => unknown;

export interface PhasePolicy {
  readonly attemptMax: number;
  readonly backoff: Backoff;
  readonly timeoutMs: number | undefined;
  /** Its record reaches the store before the next phase begins. */
  readonly isSync: boolean;
}

export interface StepPlan {
  readonly kind: 'step';
  readonly name: string;
  readonly functions: { readonly [K in Phase]?: PhaseFunction };
  /** Where what persist writes becomes final: in the store, together with its record. */
  readonly persistIn: PersistIn;
  readonly output: AnySchema | undefined;
  readonly policy: Readonly<Record<Phase, PhasePolicy>>;
}

export interface SleepPlan {
  readonly kind: 'sleep';
  readonly name: string;
  readonly delay: Duration | ((context: object) => unknown);
}

/** `upgrade[1]`: what is given is made by whoever calls it, and so is what may come back. */
export type UpgradeFunction = (old: object) => unknown;

export interface Plan {
  readonly name: string;
  readonly version: number;
  readonly input: AnySchema;
  readonly line: readonly (StepPlan | SleepPlan)[];
  readonly runTimeoutMs: number | undefined;
  /** For so long its runs go on past their pod's deadline; undefined: not at all. */
  readonly autonomousMs: number | undefined;
  /** What the fingerprint is over. */
  readonly shape: string;
  readonly fingerprint: string;
  /** By the version whose runs it carries over. No part of the fingerprint. */
  readonly upgrades: ReadonlyMap<number, UpgradeFunction>;
  readonly chart: Chart;
}

/** Registered, since a machine and the engine may have loaded two copies of FleetQ. */
const PLAN = Symbol.for('fleetq.plan');

export function attachPlan(machine: object, plan: Plan): void {
  Object.defineProperty(machine, PLAN, { value: plan });
}

/** The plan of something `defineMachine` has made; undefined for anything else. */
export function planOf(machine: unknown): Plan | undefined {
  if (typeof machine !== 'object' || machine === null) return undefined;
  return (machine as { [PLAN]?: Plan })[PLAN];
}

export function isMachine(value: unknown): value is Machine {
  return planOf(value) !== undefined;
}

/** 'resize-image@1': how a machine and its version are written everywhere. */
export function routeOf(of: { readonly name: string; readonly version: number }): string {
  return `${of.name}@${of.version}`;
}
