/**
 * What the history checker says of real fleets, said of simulated ones: counts of retries and crashes,
 * interruptions, cancels; and here attempts too. The tables are their own witness, so every change of
 * a row is known, and every call of a handler.
 */
import type { StoredRecord } from '../../src/journal/index.ts';
import { planOf } from '../../src/machine/index.ts';
import type { TaskRecord } from '../../src/store/memory/tables.ts';
import { stepOf } from '../history/accepted-history.ts';
import type { CancelCall, Change, Effect, PodLife, TaskFile } from '../history/evidence.ts';
import { livesOf } from '../history/lives.ts';
import { type Around, type Life, lookAtEach, type Rule } from '../history/rule.ts';
import { countsAgree, interruptedCounts } from '../history/rules-attempts.ts';
import { cancelHolds } from '../history/rules-queue.ts';
import { LIMITED_NAMES } from './limited-shapes.ts';
import { LONELY_NAMES } from './lonely-shapes.ts';
import { SHAPES } from './shapes.ts';
import { planFor } from './versions.ts';
import type { World } from './world.ts';

/** What was seen of a task beside its row. */
export interface SeenLife {
  readonly changes: readonly Change[];
  readonly effects: readonly Effect[];
  readonly cancels: readonly CancelCall[];
  /** Of its last generation, where they could be read. */
  readonly records: readonly StoredRecord[] | undefined;
}

export const attemptsBounded: Rule = {
  name: 'attempts are bounded',
  says: 'failures and interruptions are the attempts of a step, and it is given up after the last',
  proves: ['I29', 'I32'],
  weight: 'violations',
  ofLife: ({ task, history, plan }) => {
    let [step, attempt] = ['', 1];
    return lookAtEach(history?.stops.slice(1) ?? [], ({ seq, event, from, ...stop }) => {
      if (stepOf(from) !== step) attempt = 1;
      step = stepOf(from);
      const counted = attempt;
      if (event.type === 'FAILED' || (event.type === 'INTERRUPTED' && !event.isFree)) attempt += 1;
      const fault = (how: string) => `${task}: record ${seq} ${how}`;
      if (stop.attempt !== counted) return fault(`is of attempt ${stop.attempt}, not ${counted}`);
      const max = attemptMaxOf(plan, from);
      if (event.type === 'EXHAUSTED' && counted < max) return fault(`gives up at ${counted}`);
      const isDone = event.type === 'DONE' || event.type === 'FAILED';
      return isDone && counted > max ? fault(`is of attempt ${counted} of ${max}`) : undefined;
    });
  },
};

function attemptMaxOf({ chart, line }: Life['plan'], at: string): number {
  const place = chart.placeOf(at);
  const part = place && line[place.index];
  if (part?.kind !== 'step' || place?.phase === 'sleep') return Number.POSITIVE_INFINITY;
  return part.policy[place!.phase].attemptMax;
}

const RULES: readonly Rule[] = [countsAgree, interruptedCounts, cancelHolds, attemptsBounded];

/** Of machines with versions those whose every history the newest one can read. */
const NAMES: ReadonlySet<string> = new Set([
  ...SHAPES.map((shape) => planOf(shape)!.name),
  ...['grown', 'olden', 'novel'],
  ...LIMITED_NAMES,
  ...LONELY_NAMES,
]);

export class LifeJudge {
  readonly #world: World;
  readonly #around: Omit<Around, 'cancels' | 'changes'>;

  /** `deaths`: by the true time, as all that is known of a task's changes. */
  constructor(world: World, deaths: ReadonlyMap<string, number>) {
    this.#world = world;
    this.#around = {
      pods: podsOf(world, deaths),
      wasSkewed: () => false,
      mayFail: new Set(),
      acknowledged: [],
      calls: undefined,
    } as unknown as Omit<Around, 'cancels' | 'changes'>;
  }

  judge(task: TaskRecord, { changes, effects, cancels, records }: SeenLife): void {
    if (task.pinnedTo !== undefined || !NAMES.has(task.machine)) return;
    const segments = this.#world.tables.events.of(task.taskId).map((part) => ({ ...part, at: 0 }));
    const file = { row: rowOf(task), segments, changes } as TaskFile;
    const around: Around = { ...this.#around, cancels, changes };
    const plan = planFor(task.machine, task.version);
    for (const life of livesOf(file, plan, effects, records)) {
      for (const rule of RULES) {
        const { looked, faults } = rule.ofLife!(life, around);
        this.#world.count(`judged: ${rule.name}`, looked);
        for (const fault of faults) this.#world.violate(rule.proves.join(' '), fault);
      }
    }
  }
}

function rowOf(task: TaskRecord) {
  const { taskId, claimEpoch: epoch, retryCount: retries } = task;
  return { ...task, task: taskId, epoch, retries };
}

function podsOf(
  { tables }: World,
  deaths: ReadonlyMap<string, number>,
): ReadonlyMap<string, PodLife> {
  return new Map(
    [...tables.pods.values()].map(({ podId: pod, name, lastHeartbeat, deadBy }) => [
      pod,
      { pod, name, lastBeatAt: lastHeartbeat, deadAt: deaths.get(pod), deadBy },
    ]),
  );
}
