/**
 * What would become of a run if every pod had these machines and no others. Nothing here decides: it
 * asks what a pod asks when it takes a run over, in the same order, and puts the answer into words.
 */
import { type Fate, fateOf, forecastBeginning, type HeirPorts } from '../engine/index.ts';
import { describeError, type Json } from '../ground/index.ts';
import {
  isFinal,
  type PastRecord,
  type Plan,
  parseInput,
  type RunEvent,
  stateAfter,
  statesOf,
  type Tries,
  whyNobody,
} from '../machine/index.ts';
import { routeOf, SUSPECT_CRASHES, type TaskRow } from '../store/index.ts';
import { inputOf } from './task-input.ts';

export type FateWord = 'continues' | 'advances' | 'upgrades' | 'blocked' | 'ends' | 'fails';

export interface Forecast {
  readonly fate: FateWord;
  /** The version under which it goes on. */
  readonly to?: number | undefined;
  /** Where it stands by its records; the empty text where nobody has begun it. */
  readonly at: string;
  /** The work or persist it may be inside, which is asked about and done again if it is cut off. */
  readonly repeats?: string | undefined;
  /** Of an upgrade: whether it was asked, and the step that it goes on with. */
  readonly isTried?: boolean | undefined;
  readonly resumesAt?: string | undefined;
  readonly reason?: string | undefined;
  /** What it comes to if the phase that it is in right now is done first, where that is another. */
  readonly ifDone?: Pick<Forecast, 'fate' | 'to' | 'isTried' | 'reason'> | undefined;
}

export interface ForecastPorts extends HeirPorts {
  readonly tries: Tries;
  readonly payloadBytesMax: number;
  /** By route, what the fleet has ever had: pods look for no other of an older version. */
  readonly shapes: ReadonlyMap<string, string>;
  /** Whether a pod that has that route stays as it is. */
  readonly stays: (route: string) => boolean;
}

/** A task of the fleet, with its records, and those of an earlier generation that it goes on from. */
export async function forecastTask(
  ports: ForecastPorts,
  task: TaskRow,
  records: readonly PastRecord[],
  carried?: Parameters<typeof forecastBeginning>[1]['carried'],
): Promise<Forecast> {
  const at = records.at(-1)?.state ?? '';
  const isOpen = task.status === 'claimed' || task.interruption !== undefined;
  if (ports.stays(routeOf(task))) {
    const repeats = isOpen ? insideOf(records, ports.clock.now()) : undefined;
    return { fate: 'continues', to: task.version, at, repeats };
  }
  const unseen = whyUnseen(ports, task, records);
  const ifDone = (now: Forecast) =>
    task.status === 'claimed' ? { ...now, ifDone: onceDone(ports, task, records, now) } : now;
  if (unseen !== undefined) return ifDone({ fate: 'blocked', at, reason: unseen });
  if (records.length > 0) return ifDone(await forecastRun(ports, records, isOpen));
  const now = await forecastNew(ports, task, carried);
  const isBegun = task.status === 'claimed' && carried === undefined;
  return isBegun ? { ...now, ifDone: onceBegun(ports, task, now) } : now;
}

/** A pod has it, and has begun it by now: the record of that is only on its disk so far. */
function onceBegun(ports: ForecastPorts, task: TaskRow, now: Forecast): Forecast['ifDone'] {
  const { shapes, registry } = ports;
  const shape = shapes.get(routeOf(task));
  const [at] = shape === undefined ? [] : statesOf(shape);
  if (at === undefined || registry.find(task.machine, task.version)) return undefined;
  if (now.fate === 'blocked' || now.fate === 'fails') return undefined;
  const records = [{ ...notBegunAs(task), state: at }];
  const reason = whyNobody(registry, records);
  if (reason !== undefined) return { fate: 'blocked', reason };
  return onceDone(ports, task, records, { ...now, at });
}

/**
 * Its pod may finish the phase that it is in while it drains: then it stands at the next one of its own
 * line. What that phase puts out nobody knows yet, so no schema and no upgrade is asked about it.
 */
function onceDone(
  { registry, shapes }: ForecastPorts,
  task: TaskRow,
  records: readonly PastRecord[],
  now: Forecast,
): Forecast['ifDone'] {
  const shape = shapes.get(routeOf(task));
  const state = shape === undefined ? undefined : stateAfter(shape, now.at);
  if (state === undefined) return undefined;
  if (isFinal(state)) return { fate: 'ends' };
  const event = { type: 'DONE', output: null } as const;
  const past = [...records, { seq: records.length, at: 0, event, state }];
  const reason = whyNobody(registry, past);
  if (reason !== undefined) return now.fate === 'blocked' ? undefined : { fate: 'blocked', reason };
  const [heir] = registry
    .versions(task.machine)
    .filter(({ upgrades }) => upgrades.has(task.version));
  if (!heir || registry.find(task.machine, task.version) || now.isTried === false) return undefined;
  return { fate: 'upgrades', to: heir.version, isTried: false };
}

/** A run that has begun. `isOpen`: somebody has it in hand, or was cut off with it. */
export async function forecastRun(
  ports: Pick<ForecastPorts, keyof HeirPorts | 'tries'>,
  records: readonly PastRecord[],
  isOpen: boolean,
): Promise<Forecast> {
  const found = await fateOf(ports, records, ports.tries);
  const at = records.at(-1)!.state;
  const inside = isOpen ? insideOf(records, ports.clock.now()) : undefined;
  return { at, ...inWords(found, inside) };
}

function inWords(found: Fate, repeats: string | undefined): Omit<Forecast, 'at'> {
  switch (found.kind) {
    case 'continues':
    case 'changed':
      return { fate: 'continues', to: found.plan.version, repeats };
    case 'advances':
      return { fate: 'advances', to: found.plan.version, repeats };
    case 'upgrades': {
      const { step } = found.event;
      return { fate: 'upgrades', to: found.plan.version, isTried: true, resumesAt: step };
    }
    case 'untried':
      return { fate: 'upgrades', to: found.plan.version, isTried: false };
    case 'blocked':
      return { fate: 'blocked', reason: found.reason };
    case 'ended':
      return { fate: 'ends' };
    default:
      return { fate: 'fails', reason: found.reason };
  }
}

/** Why no pod would look at it: neither its route nor that of a version they take tasks over from. */
function whyUnseen(
  { registry, shapes }: ForecastPorts,
  task: TaskRow,
  records: readonly PastRecord[],
): string | undefined {
  const { machine, version, crashes } = task;
  if (registry.find(machine, version)) return undefined;
  const [newest] = registry.versions(machine);
  const route = routeOf(task);
  if (!newest || newest.version < version) {
    const past = records.length > 0 ? records : [notBegunAs(task)];
    return whyNobody(registry, past) ?? `no machine ${route} is registered here`;
  }
  if (crashes >= SUSPECT_CRASHES) {
    return `it has outlived ${crashes} owners, and only a pod that has ${route} itself tries it again`;
  }
  if (!shapes.has(route)) return `no pod has ever had ${route}, so none looks for it`;
  return undefined;
}

/** One record, so that the rule which is asked about records has one to look at. */
function notBegunAs({ machine, version }: TaskRow): PastRecord {
  const event = { type: 'STARTED', machine, version, fingerprint: '', input: null } as const;
  return { seq: 0, at: 0, event, state: '' };
}

async function forecastNew(
  ports: ForecastPorts,
  task: TaskRow,
  carried: Parameters<typeof forecastBeginning>[1]['carried'],
): Promise<Forecast> {
  const { machine, version } = task;
  const at = '';
  try {
    const input = inputOf(task, ports.payloadBytesMax);
    const here = ports.registry.find(machine, version);
    if (here) return { at, ...(await begunBy(ports, here, input)) };
    const wanted = { machine, version, input, carried };
    const found = await forecastBeginning(ports, wanted, ports.tries);
    if (typeof found === 'string') return { fate: 'blocked', at, reason: found };
    const to = found.plan.version;
    if ('kind' in found) return { fate: 'upgrades', to, at, isTried: false };
    // What an earlier generation had finished is carried by an advance; there is no other way.
    if (!found.plan.upgrades.has(version)) return { fate: 'advances', to, at };
    return { fate: 'upgrades', to, at, isTried: true, resumesAt: found.carried?.step };
  } catch (error) {
    return { fate: 'fails', at, reason: describeError(error).message };
  }
}

async function begunBy(ports: ForecastPorts, plan: Plan, input: Json) {
  await parseInput(ports.clock, plan, input);
  return { fate: 'continues', to: plan.version } as const;
}

const REPEATED = /\.(work|persist)$/;

/** The work or persist that the last record entered, unless it waits for its time there. */
function insideOf(records: readonly PastRecord[], now: number): string | undefined {
  const state = records.at(-1)?.state ?? '';
  if (!REPEATED.test(state)) return undefined;
  // Who takes a run over, or comes with another version, leaves it where it waits, if it does still.
  const told = records.findLast(({ event }) => !leavesWait(event))?.event;
  const dueAt = told && 'dueAt' in told ? told.dueAt : undefined;
  return dueAt !== undefined && dueAt > now ? undefined : state;
}

function leavesWait(event: RunEvent): boolean {
  return event.type === 'ADVANCED' || (event.type === 'TAKEN' && !event.isDue);
}
