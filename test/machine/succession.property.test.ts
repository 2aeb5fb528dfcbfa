/** Over random lines: a run goes on by itself exactly where what is recorded is a common beginning. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  attemptOf,
  foldRecords,
  isFinal,
  type PastRecord,
  type Plan,
  type RunState,
  readOldState,
  toldEnding,
} from '../../src/machine/index.ts';
import { SEED, seeded } from '../ground/seed.ts';
import { events, live, machineOf, type PartShape, parts, planFor, started } from './arbitrary.ts';

interface Lived {
  readonly records: readonly PastRecord[];
  readonly states: readonly RunState[];
}

/** Ends where the run does, as a history to go on with does not. */
function livedBy(
  plan: Plan,
  start: Parameters<typeof live>[1],
  happened: Parameters<typeof live>[2],
): Lived {
  const usual = happened.filter(({ type }) => type !== 'UPGRADED');
  const { records, states } = live(plan, start, usual);
  const open = states.filter((state) => !isFinal(state.at));
  return {
    records: open.map(({ at: state }, seq) => ({ seq, at: 1_000, event: records[seq]!, state })),
    states: open,
  };
}

/** The phases of a line, in order: what a run without mishap passes through. */
const phasesOf = (plan: Plan) =>
  plan.chart.transitions.map(({ step, phase }) => `${step}.${phase}`);

const stepIn = (phase: string | undefined) => phase?.slice(0, phase.lastIndexOf('.'));

/**
 * By the list of phases alone, and not by any fold: each record leads to where that list leads. What a
 * handoff has passed over was never recorded, and may be other than it was.
 */
function isCommonBeginning(other: Plan, records: readonly PastRecord[]): boolean {
  const phases = phasesOf(other);
  if (phases[0] !== records[0]!.state) return false;
  return records.slice(1).every(({ event, state }, index) => {
    const from = records[index]!.state;
    const rest = phases.slice(phases.indexOf(from) + 1);
    if (event.type === 'DONE') return rest[0] === state;
    if (event.type !== 'HANDED_OFF') return phases.includes(state);
    return rest.find((phase) => stepIn(phase) !== stepIn(from)) === state;
  });
}

const NEXT = { name: 'random', version: 2 };

describe(`with seed ${SEED}`, () => {
  test('a longer line goes on with a run after every one of its records', () => {
    let count = 0;
    fc.assert(
      fc.property(parts, parts, started, events, (line, more, start, happened) => {
        const added = more.filter(({ name }) => line.every((part) => part.name !== name));
        const [plan, longer] = [machineOf(line), machineOf([...line, ...added], NEXT)].map(planFor);
        const { records, states } = livedBy(plan!, start, happened);
        records.forEach((_, index) => {
          const folded = foldRecords(longer!, records.slice(0, index + 1));
          expect(folded).toMatchObject({ state: states[index] });
          count++;
        });
      }),
      seeded(200),
    );
    expect(count).toBeGreaterThan(500);
  });

  test('another line goes on with it if and only if the recorded part is a common beginning', () => {
    const seen = { goesOn: 0, isRefused: 0 };
    fc.assert(
      fc.property(parts, edits, started, events, (line, edit, start, happened) => {
        const changed = edited(line, edit);
        fc.pre(changed.some(({ kind }) => kind === 'step'));
        const [plan, other] = [machineOf(line), machineOf(changed, NEXT)].map(planFor);
        const { records } = livedBy(plan!, start, happened);
        records.forEach((_, index) => {
          const past = records.slice(0, index + 1);
          const goesOn = typeof foldRecords(other!, past) !== 'string';
          const isCommon = isCommonBeginning(other!, past);
          expect(goesOn).toBe(isCommon);
          seen[goesOn ? 'goesOn' : 'isRefused']++;
        });
      }),
      seeded(400),
    );
    expect(seen.goesOn).toBeGreaterThan(300);
    expect(seen.isRefused).toBeGreaterThan(300);
  });

  test('what an upgrade is told without the line is what the line would have told', () => {
    fc.assert(
      fc.property(parts, started, events, (line, start, happened) => {
        const { records, states } = livedBy(planFor(machineOf(line)), start, happened);
        records.forEach((_, index) => {
          const past = records.slice(0, index + 1);
          const { at, input, outputs, startedAt, deadlineAt } = states[index]!;
          expect(readOldState(past)).toMatchObject({ at, input, startedAt, deadlineAt });
          expect(readOldState(past).outputs).toEqual(outputs);
          expect(attemptOf(past)).toBe(states[index]!.attempt);
        });
      }),
      seeded(200),
    );
  });

  test('how a run has ended can be told without its line', () => {
    const outcomes = new Set<string>();
    fc.assert(
      fc.property(parts, started, events, (line, start, happened) => {
        const usual = happened.filter(({ type }) => type !== 'UPGRADED');
        const { records, states } = live(planFor(machineOf(line)), start, usual);
        const past = states.map(({ at: state }, seq) => {
          return { seq, at: 1_000, event: records[seq]!, state };
        });
        states.forEach(({ ending }, index) => {
          expect(toldEnding(past.slice(0, index + 1))).toEqual(ending);
          if (ending) outcomes.add(ending.outcome);
        });
      }),
      seeded(300),
    );
    expect(outcomes.size).toBe(6);
  });
});

type Edit =
  | { readonly kind: 'delete' | 'rename' | 'insert' | 'swap'; readonly at: number }
  | {
      readonly kind: 'toggle';
      readonly at: number;
      readonly phase: 'check' | 'validate' | 'persist';
    };

const at = fc.nat({ max: 5 });
const edits: fc.Arbitrary<Edit> = fc.oneof(
  fc.record({ kind: fc.constantFrom('delete', 'rename', 'insert', 'swap'), at }),
  fc.record({
    kind: fc.constant('toggle'),
    at,
    phase: fc.constantFrom('check', 'validate', 'persist'),
  }),
) as fc.Arbitrary<Edit>;

const ADDED: PartShape = {
  name: 'added',
  kind: 'step',
  check: false,
  validate: false,
  persist: false,
};

function edited(line: readonly PartShape[], edit: Edit): PartShape[] {
  const [parts, index] = [[...line], edit.at % line.length];
  const part = parts[index]!;
  switch (edit.kind) {
    case 'delete':
      parts.splice(index, 1);
      return parts;
    case 'insert':
      parts.splice(index, 0, ADDED);
      return parts;
    case 'rename':
      parts[index] = { ...part, name: 'added' };
      return parts;
    case 'swap': {
      const other = (index + 1) % parts.length;
      [parts[index], parts[other]] = [parts[other]!, part];
      return parts;
    }
    default:
      parts[index] = { ...part, [edit.phase]: !part[edit.phase] };
      return parts;
  }
}
