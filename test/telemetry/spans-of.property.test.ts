/**
 * What holds of every trace: it lies end to end, and tells each phase once, as what it was. Held against
 * the fold that the engine goes by, for random histories, and against a ledger that the phases
 * themselves wrote, for real runs whose process dies.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Engine } from '../../src/engine/index.ts';
import type { RunId } from '../../src/ground/index.ts';
import { SqliteJournal } from '../../src/journal/index.ts';
import {
  isFinal,
  type Plan,
  Registry,
  type RunEvent,
  type RunState,
} from '../../src/machine/index.ts';
import { spansOf } from '../../src/telemetry/spans-of.ts';
import {
  type Attempt,
  type Trace,
  type TracedRecord,
  totalsOf,
} from '../../src/telemetry/trace.ts';
import { SEED, seeded } from '../ground/seed.ts';
import { events, live, machine, planFor, started } from '../machine/arbitrary.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { never } from '../support/fleets.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { Scribe, SHAPES, type Shape, shapes } from '../support/shapes.ts';
import { useTempDirs } from '../support/temp-dir.ts';

const newDir = useTempDirs();

/** When each record was written, by which epoch; clocks go back now and then. */
const pace = fc.array(
  fc.record({ ms: fc.integer({ min: -300, max: 4_000 }), isByNext: fc.boolean() }),
  { minLength: 45, maxLength: 45 },
);
type Pace = readonly { readonly ms: number; readonly isByNext: boolean }[];

function timed(happened: readonly RunEvent[], states: readonly RunState[], paces: Pace) {
  let [at, epoch] = [1_000_000, 1];
  return happened.map((event, seq): TracedRecord => {
    const { ms, isByNext } = paces[seq % paces.length]!;
    at += ms;
    if (event.type === 'TAKEN' || (isByNext && seq % 3 === 0)) epoch += 1;
    const due = 'dueAt' in event && event.dueAt !== undefined;
    const told = due ? { ...event, dueAt: at - 100 + (event.dueAt % 5_000) } : event;
    return { seq, at, epoch, event: told, state: states[seq]!.at };
  });
}

function liesEndToEnd({ items, startedAt, until, end }: Trace): void {
  let reached = startedAt;
  let begun = startedAt;
  const lastSpan = items.findLast(({ kind }) => kind !== 'mark');
  for (const item of items) {
    if (item.kind === 'mark') {
      expect(item.at).toBeGreaterThanOrEqual(begun);
      begun = item.at;
      continue;
    }
    expect(item.beganAt).toBe(reached);
    expect(reached).toBeGreaterThanOrEqual(begun);
    begun = reached;
    const isOpen = item.endedAt === undefined;
    expect(isOpen && (item !== lastSpan || end !== undefined)).toBe(false);
    reached = item.endedAt ?? until;
    expect(reached).toBeGreaterThanOrEqual(item.beganAt);
  }
  expect(reached).toBe(until);
}

const ENDS_PHASE: ReadonlySet<string> = new Set([
  ...['DONE', 'HANDED_OFF', 'FAILED', 'POSTPONED', 'PROBED', 'ABORTED', 'INTERRUPTED'],
]);

/** What the engine's own fold says was called when the record came. */
function calledBefore(plan: Plan, { at, attempt, mustProbe }: RunState, { event }: TracedRecord) {
  const { step, phase } = plan.chart.placeOf(at)!;
  const isProbe =
    mustProbe || event.type === 'PROBED' || (event.type === 'HANDED_OFF' && phase !== 'check');
  return { step, phase: isProbe ? 'probe' : phase, attempt };
}

test(`random histories: every phase on record is told once, as what it was, seed ${SEED}`, () => {
  const seen = new Map<string, number>();
  fc.assert(
    fc.property(machine, started, events, pace, (of, start, happened, paces) => {
      const plan = planFor(of);
      const { records: told, states } = live(plan, { ...start, deadlineAt: undefined }, happened);
      const records = timed(told, states, paces);
      const last = records.at(-1)!;
      const trace = spansOf(records, last.at + 777);
      liesEndToEnd(trace);
      const { totalMs, workingMs, waitingMs, lostMs } = totalsOf(trace);
      expect(workingMs + waitingMs + lostMs).toBe(totalMs);
      expect(trace.end !== undefined).toBe(isFinal(last.state));

      const attempts = trace.items.filter((item) => item.kind === 'attempt');
      const marks = trace.items.filter((item) => item.kind === 'mark');
      const moves = records.filter(({ event }) => /TAKEN|ADVANCED|UPGRADED/.test(event.type));
      expect(marks.filter(({ what }) => what !== 'restarted')).toHaveLength(moves.length);
      for (const attempt of attempts)
        seen.set(attempt.outcome, (seen.get(attempt.outcome) ?? 0) + 1);

      const bySeq = new Map(attempts.map((attempt) => [attempt.endedSeq, attempt]));
      expect(bySeq.size).toBe(attempts.length);
      for (const record of records.slice(1)) {
        const found = bySeq.get(record.seq);
        if (!ENDS_PHASE.has(record.event.type)) continue;
        expect(found, `${record.seq} ${record.event.type}`).toMatchObject(
          calledBefore(plan, states[record.seq - 1]!, record),
        );
      }
      // A death that was noticed first and counted after is one.
      for (const { outcome, endedSeq = 0 } of attempts) {
        const isNoticed = outcome === 'crashed' && /TAKEN|ADV/.test(records[endedSeq]!.event.type);
        const next = records[endedSeq + 1]?.event;
        if (isNoticed) expect(next?.type === 'INTERRUPTED' && !next.isFree).toBe(false);
      }
      if (!trace.end) {
        const { at, attempt } = states.at(-1)!;
        const open = trace.items.findLast(({ kind }) => kind !== 'mark')!;
        expect(open.step).toBe(plan.chart.placeOf(at)!.step);
        if (open.kind === 'attempt') expect(open).toMatchObject({ attempt, outcome: 'open' });
      }
    }),
    seeded(300),
  );
  const wanted = ['done', 'handedOff', 'retried', 'postponed', 'crashed', 'drained', 'open'];
  for (const outcome of [...wanted, 'exhausted', 'aborted', 'timedOut', 'cancelled']) {
    expect(seen.get(outcome) ?? 0, outcome).toBeGreaterThan(5);
  }
});

interface Called {
  readonly run: string;
  readonly step: string;
  readonly phase: string;
  readonly attempt: number;
}

/** A process in whose phases the `hangAt`th call never comes to an end. */
function begin(clock: FakeClock, dataDir: string, calls: Called[], hangAt: number) {
  let count = 0;
  const scribe = new Scribe({
    write: (line) => {
      calls.push(line as Called);
      return ++count === hangAt ? (never() as Promise<void>) : undefined;
    },
  });
  const registry = new Registry(Object.values(shapes(scribe)));
  const journal = SqliteJournal.open(dataDir, { clock, random: seededRandom(1) });
  const engine = new Engine({
    ...{ journal, registry, clock, random: seededRandom(2), around: scribe.around, slots: 2 },
    ...{ resultBytesMax: 10_000, activeRunsMax: 1_000, retentionMs: 1e9 },
  });
  engine.start();
  return { engine, journal, registry };
}

const starts = fc.array(fc.constantFrom<Shape>(...SHAPES), { minLength: 1, maxLength: 6 });

test(`real runs whose process dies: the trace has the calls that were made, seed ${SEED}`, async () => {
  let crashed = 0;
  await fc.assert(
    fc.asyncProperty(starts, fc.integer({ min: 0, max: 20 }), async (wanted, hangAt) => {
      const [clock, dataDir, calls] = [new FakeClock(), newDir(), [] as Called[]];
      const first = begin(clock, dataDir, calls, hangAt);
      const ids: RunId[] = [];
      for (const shape of wanted) {
        ids.push(await first.engine.startRun(first.registry.newest(shape), { subject: 's' }));
      }
      await clock.advance(hangAt * 100);
      first.engine.stopNow();
      await clock.settle();
      const second = begin(clock, dataDir, calls, 0);
      await clock.advance(30_000);
      for (const id of ids) {
        const trace = spansOf(second.journal.history(id), clock.now());
        liesEndToEnd(trace);
        expect(trace.end).toBeDefined();
        const told = trace.items.filter(
          (item): item is Attempt => item.kind === 'attempt' && item.phase !== 'sleep',
        );
        crashed += told.filter(({ outcome }) => outcome === 'crashed').length;
        const brief = ({ step, phase, attempt }: Omit<Called, 'run'>) =>
          `${step} ${phase} ${attempt}`;
        expect(told.map(brief)).toEqual(calls.filter(({ run }) => run === id).map(brief));
      }
      second.engine.stopNow();
    }),
    seeded(15),
  );
  expect(crashed).toBeGreaterThan(3);
}, 120_000);
