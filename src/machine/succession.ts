/**
 * Which definition goes on with a run, by its records and the machines a process has:
 *
 *   continues   the version is here, and is what it was when the run came under it
 *   changed     the version is here with another definition that leads through the same states
 *   upgrades    it is not; a newer one has an `upgrade` for it, which says where to go on
 *   advances    it is not; a newer one has none, but its line begins with the phases on record, and
 *               its schemas take what they put out
 *   blocked     otherwise: the run waits for a process that has the right one
 *
 * The newest version is asked first, and an older one than the run's is never asked. Nothing here
 * writes: what is found may as well be a forecast.
 */
import { assert, describeError, type Json } from '../ground/index.ts';
import { type AskPorts, askUpgrade } from './ask-upgrade.ts';
import { type Folded, foldRecords, type Origin, originOf, type PastRecord } from './fold.ts';
import { notBegun, readOldState } from './old-run.ts';
import { parseInput, parseOutput } from './parse-input.ts';
import { type Plan, routeOf } from './plan.ts';
import type { Registry } from './registry.ts';
import type { AdvancedEvent, RunState, UpgradedEvent } from './run-state.ts';

/** What becomes of a run whose version is registered. */
export type Registered =
  | { readonly kind: 'continues' | 'changed'; readonly plan: Plan; readonly folded: Folded }
  | { readonly kind: 'blocked'; readonly reason: string }
  /** The very definition that wrote the records does not lead through them: they are not to be trusted. */
  | { readonly kind: 'unfit'; readonly reason: string };

export type Succession =
  | Registered
  | {
      readonly kind: 'advances';
      readonly plan: Plan;
      readonly state: RunState;
      readonly event: AdvancedEvent;
    }
  | {
      readonly kind: 'upgrades';
      readonly plan: Plan;
      /** As the records tell it, before the upgrade. */
      readonly state: RunState;
      readonly event: UpgradedEvent;
    };

export type SuccessionPorts = AskPorts;

/** A newer version has an upgrade for the run, which was not asked: it may yet refuse. */
export interface Untried {
  readonly kind: 'untried';
  readonly plan: Plan;
}

/** Whether the upgrade of that machine is asked; whoever only looks ahead may leave it. */
export type Tries = (plan: Plan) => boolean;

/** Whatever becomes of the run; nothing is written. */
export async function successionOf(
  ports: SuccessionPorts,
  registry: Registry,
  records: readonly PastRecord[],
): Promise<Succession> {
  const found = await forecastOf(ports, registry, records, () => true);
  assert(found.kind !== 'untried', 'every upgrade was to be asked');
  return found;
}

/** The same, where not every upgrade is asked. */
export async function forecastOf(
  ports: SuccessionPorts,
  registry: Registry,
  records: readonly PastRecord[],
  tries: Tries,
): Promise<Succession | Untried> {
  const registered = registeredFor(registry, records);
  if (registered) return registered;
  const origin = originOf(records);
  const refusals: string[] = [];
  for (const plan of newerThan(registry, origin)) {
    if (plan.upgrades.has(origin.version) && !tries(plan)) return { kind: 'untried', plan };
    const found = await successionBy(ports, plan, records);
    if (typeof found !== 'string') return found;
    refusals.push(found);
  }
  return { kind: 'blocked', reason: whyNot(registry, origin, refusals) };
}

/** What becomes of a run that nobody has begun. `event`: what its upgrade makes of it, if it has one. */
export type NewSuccession =
  | { readonly plan: Plan; readonly event?: UpgradedEvent | undefined }
  | { readonly kind: 'blocked'; readonly reason: string };

/** No phase is on record, so every newer line begins with them; its schema has to take the input. */
export async function successionOfNew(
  ports: SuccessionPorts,
  registry: Registry,
  asked: Origin,
  input: Json,
  tries: Tries = () => true,
): Promise<NewSuccession | Untried> {
  const here = registry.find(asked.machine, asked.version);
  if (here) return { plan: here };
  const refusals: string[] = [];
  for (const plan of newerThan(registry, asked)) {
    const state = notBegun(input);
    const upgrade = plan.upgrades.get(asked.version);
    if (upgrade) {
      if (!tries(plan)) return { kind: 'untried', plan };
      const event = await askUpgrade(ports, plan, upgrade, asked.version, state);
      return typeof event === 'string' ? upgradeFailed(plan, asked, event) : { plan, event };
    }
    const refusal = await refusalOf(ports, plan, state);
    if (refusal === undefined) return { plan };
    refusals.push(cannot(plan, asked, refusal));
  }
  return { kind: 'blocked', reason: whyNot(registry, asked, refusals) };
}

/** The answer where the run's version is registered; undefined where it is not. */
export function registeredFor(
  registry: Registry,
  records: readonly PastRecord[],
): Registered | undefined {
  const origin = originOf(records);
  const plan = registry.find(origin.machine, origin.version);
  if (!plan) return undefined;
  const folded = foldRecords(plan, records);
  const isSame = plan.fingerprint === origin.fingerprint;
  if (typeof folded !== 'string') return { kind: isSame ? 'continues' : 'changed', plan, folded };
  if (isSame) return { kind: 'unfit', reason: folded };
  const reason =
    `${routeOf(plan)} is registered here, but was changed since, and cannot go on with it: ${folded}; ` +
    'give the changed one a new version, and register the former one beside it';
  return { kind: 'blocked', reason };
}

/** Why no version here can go on with the run, as far as can be told without asking any schema. */
export function whyNobody(registry: Registry, records: readonly PastRecord[]): string | undefined {
  const registered = registeredFor(registry, records);
  if (registered) return registered.kind === 'blocked' ? registered.reason : undefined;
  const origin = originOf(records);
  const refusals: string[] = [];
  for (const plan of newerThan(registry, origin)) {
    if (plan.upgrades.has(origin.version)) return undefined;
    const folded = foldRecords(plan, records);
    if (typeof folded !== 'string') return undefined;
    refusals.push(cannot(plan, origin, folded));
  }
  return whyNot(registry, origin, refusals);
}

function newerThan(registry: Registry, { machine, version }: Origin): Plan[] {
  return registry.versions(machine).filter((plan) => plan.version > version);
}

async function successionBy(
  ports: SuccessionPorts,
  plan: Plan,
  records: readonly PastRecord[],
): Promise<Succession | string> {
  const origin = originOf(records);
  const upgrade = plan.upgrades.get(origin.version);
  if (upgrade) {
    const state = readOldState(records);
    const event = await askUpgrade(ports, plan, upgrade, origin.version, state);
    if (typeof event !== 'string') return { kind: 'upgrades', plan, state, event };
    return upgradeFailed(plan, origin, event);
  }
  const folded = foldRecords(plan, records);
  if (typeof folded === 'string') return cannot(plan, origin, folded);
  const refusal = await refusalOf(ports, plan, folded.state);
  if (refusal !== undefined) return cannot(plan, origin, refusal);
  const { version, fingerprint } = plan;
  const event = { type: 'ADVANCED', version, fingerprint } as const;
  return { kind: 'advances', plan, state: folded.state, event };
}

/** Its author has thought of these runs: what another version would do is not what is wanted. */
function upgradeFailed(plan: Plan, { version }: Origin, why: string) {
  const reason = `the upgrade of ${routeOf(plan)} from version ${version} failed: ${why}`;
  return { kind: 'blocked', reason } as const;
}

/** Why the schemas of this version do not take what is recorded; undefined where they do. */
async function refusalOf(
  { clock }: SuccessionPorts,
  plan: Plan,
  { input, outputs }: RunState,
): Promise<string | undefined> {
  try {
    await parseInput(clock, plan, input);
    for (const [step, value] of Object.entries(outputs)) {
      await parseOutput(clock, plan, step, value);
    }
    return undefined;
  } catch (error) {
    return describeError(error).message;
  }
}

function cannot(plan: Plan, { version }: Origin, why: string): string {
  return (
    `${routeOf(plan)} cannot go on with it: ${why}; ` +
    `give ${routeOf(plan)} an upgrade from version ${version}`
  );
}

/** The newest version's refusal says enough: it is the one that people are at work on. */
function whyNot(registry: Registry, origin: Origin, [refusal]: readonly string[]): string {
  const { machine: name, version } = origin;
  const route = routeOf({ name, version });
  const missing = `no machine ${route} is registered here`;
  if (refusal !== undefined) return `${missing}, and ${refusal}, or register ${route} beside it`;
  const [newest] = registry.versions(name);
  if (!newest) return missing;
  return `${missing}, and ${routeOf(newest)} is older: no run goes back to an older version`;
}
