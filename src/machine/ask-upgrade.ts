/**
 * Asks a machine's `upgrade` what becomes of a run of an older version. It is the author's code over
 * data that older code of the author wrote, so whatever comes back is checked as a start would be:
 * nothing is recorded that the new line could not go on with.
 */
import {
  type Clock,
  FleetqError,
  freezeDeep,
  type Json,
  settleJson,
  show,
} from '../ground/index.ts';
import { placeIn } from './old-run.ts';
import { parseInput, parseOutput } from './parse-input.ts';
import { type Plan, routeOf, type UpgradeFunction } from './plan.ts';
import type { RunState, UpgradedEvent } from './run-state.ts';
import type { OldRun, Resumed } from './types.ts';

export interface AskPorts {
  readonly clock: Clock;
  readonly resultBytesMax: number;
}

/** What the author has asked for, before anybody has looked at it. */
interface Wish {
  readonly step: unknown;
  readonly input: unknown;
  readonly state: unknown;
}

/** The event that carries the run over, or in words why there is none. */
export async function askUpgrade(
  ports: AskPorts,
  plan: Plan,
  upgrade: UpgradeFunction,
  from: number,
  old: RunState,
): Promise<UpgradedEvent | string> {
  try {
    const wish = wishOf(plan, upgrade, from, old);
    if (typeof wish === 'string') return wish;
    return await granted(ports, plan, from, wish);
  } catch (thrown) {
    return reasonOf(thrown);
  }
}

/** Ours say what is wrong; whatever else was thrown is the author's. */
function reasonOf(thrown: unknown): string {
  if (thrown instanceof FleetqError) return thrown.message;
  return `it threw ${show(thrown)}`;
}

function wishOf(
  plan: Plan,
  upgrade: UpgradeFunction,
  version: number,
  old: RunState,
): Wish | string {
  const wishes = new WeakMap<object, Wish>();
  const make = (wish: Wish): Resumed => {
    const resumed = Object.freeze({});
    wishes.set(resumed, wish);
    return resumed as Resumed;
  };
  freezeDeep(old.input);
  freezeDeep(old.outputs);
  const run: OldRun<unknown, Record<string, unknown>> = Object.freeze({
    version,
    at: Object.freeze(placeIn(old.at)),
    attempt: old.attempt,
    input: old.input,
    state: old.outputs,
    resumeAt: (step: string, as: { readonly input: unknown; readonly state: unknown }) =>
      make({ step, input: as?.input, state: as?.state }),
    restart: (input: unknown) => make({ step: plan.line[0]!.name, input, state: {} }),
  });
  const answer = upgrade(run);
  const wish = typeof answer === 'object' && answer !== null ? wishes.get(answer) : undefined;
  if (wish) return wish;
  // Should it be a promise that rejects, nobody else would hear of it, and the process would end.
  Promise.resolve(answer).catch(() => undefined);
  return `it must return what old.resumeAt(…) or old.restart(…) gave, got ${show(answer)}`;
}

async function granted(
  { clock, resultBytesMax }: AskPorts,
  plan: Plan,
  from: number,
  wish: Wish,
): Promise<UpgradedEvent | string> {
  const index = plan.line.findIndex(({ name }) => name === wish.step);
  if (index < 0) {
    const names = plan.line.map(({ name }) => name).join(', ');
    return `${routeOf(plan)} has no step ${show(wish.step)} to go on at; it has ${names}`;
  }
  const what = `the state for ${show(wish.step)}`;
  const state = settleJson(wish.state, what, resultBytesMax);
  if (typeof state !== 'object' || state === null || Array.isArray(state)) {
    return `${what} must be an object of outputs by step, got ${show(wish.state)}`;
  }
  const given = state as Readonly<Record<string, Json>>;
  const before = plan.line.slice(0, index).filter(({ kind }) => kind === 'step');
  const extra = Object.keys(given).find((name) => !before.some((step) => step.name === name));
  if (extra !== undefined) return `${what} has ${show(extra)}, which is no step before it`;
  const outputs: Record<string, Json> = {};
  for (const { name } of before) {
    if (!Object.hasOwn(given, name)) return `${what} lacks ${show(name)}, a step before it`;
    outputs[name] = given[name]!;
    await parseOutput(clock, plan, name, outputs[name]);
  }
  const input = settleJson(wish.input, `the input of ${plan.name}`, resultBytesMax);
  await parseInput(clock, plan, input);
  const { version, fingerprint } = plan;
  const step = wish.step as string;
  return { type: 'UPGRADED', version, fingerprint, from, step, input, outputs };
}
