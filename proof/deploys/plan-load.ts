/**
 * What is put in flight: every machine, halted at every place of its line in every way, in the order in
 * which it has to come so that all of them stand still at once.
 */
import { runIdMint, systemClock, systemRandom } from '../../src/ground/index.ts';
import type { NewTask } from '../../src/store/index.ts';

/** Places of the lines of version 1, in order. */
const ABC = ['a', 'b', 'c'].flatMap((step) => placesOf(step));
const NAP = [...placesOf('a'), 'nap.sleep', ...placesOf('b')];
const LINES: Readonly<Record<string, readonly string[]>> = {
  'plan/same': ABC,
  'plan/keep': NAP,
  'plan/grow': NAP,
  'plan/swap': ABC,
  'plan/shrink': ABC,
  'plan/strict': ABC,
  'plan/carry': ABC,
  'plan/gone': NAP,
};
export const MACHINES = Object.keys(LINES);

function placesOf(step: string): string[] {
  return ['check', 'work', 'validate', 'persist'].map((phase) => `${step}.${phase}`);
}

export interface Sizes {
  readonly pods: number;
  readonly slots: number;
  /** Parked or asleep for an hour. */
  readonly parked: number;
  /** Given back between two phases. */
  readonly between: number;
  /** Inside a phase; more than there is room for, so that the pods have room for nothing else. */
  readonly inside: number;
  readonly untouched: number;
}

export function sizesOf(runs: number): Sizes {
  const pods = runs < 1_000 ? 2 : 3;
  const room = Math.floor(runs * 0.14);
  const slots = Math.floor(room / pods);
  const [between, inside] = [room, Math.ceil(room * 1.1)];
  const untouched = Math.floor(runs * 0.2);
  return { pods, slots, between, inside, untouched, parked: runs - between - inside - untouched };
}

type How = 'park' | 'hold' | 'obey' | 'finish' | 'never';

const mint = runIdMint(systemClock, systemRandom);

export function parkedTasks(count: number): NewTask[] {
  return tasks(count, (place) => (place === 'nap.sleep' ? 'never' : 'park'), 0);
}

/** They finish the phase that they are in when they are told to, and go no further. */
export function betweenTasks(count: number): NewTask[] {
  const isLast = (place: string, line: readonly string[]) => place === line.at(-1);
  return tasks(
    count,
    () => 'finish',
    0,
    (place, line) => isPhase(place) && !isLast(place, line),
  );
}

export function insideTasks(count: number): NewTask[] {
  const ways: readonly How[] = ['hold', 'obey', 'hold', 'finish'];
  return tasks(count, (_, index) => ways[Math.floor(index / 7) % ways.length]!, 9, isPhase);
}

/** Nobody gets to them before the deploy; some are not even due. */
export function untouchedTasks(count: number): NewTask[] {
  return tasks(count, () => 'never', -9).map((task, index) => {
    return index % 5 === 0 ? { ...task, due: { afterMs: 3_600_000 } } : task;
  });
}

const isPhase = (place: string) => !place.endsWith('.sleep');

function tasks(
  count: number,
  howAt: (place: string, index: number) => How,
  priority: number,
  isPlace: (place: string, line: readonly string[]) => boolean = () => true,
): NewTask[] {
  return Array.from({ length: count }, (_, index) => {
    const machine = MACHINES[index % MACHINES.length]!;
    const round = Math.floor(index / MACHINES.length);
    const line = LINES[machine]!;
    const places = line.filter((place) => isPlace(place, line));
    const halt = places[round % places.length]!;
    const isBad = machine === 'plan/carry' && round % 6 === 5;
    const input = { halt, how: howAt(halt, index), isStrict: round % 2 === 0, isBad };
    return newTask(machine, JSON.stringify(input), priority);
  });
}

function newTask(machine: string, payload: string, priority: number): NewTask {
  return {
    id: mint(),
    machine,
    version: 1,
    queue: 'default',
    priority,
    due: undefined,
    payload,
    key: undefined,
    keyMs: 0,
    retriesMax: undefined,
    deadlineMs: undefined,
    traceParent: undefined,
  };
}
