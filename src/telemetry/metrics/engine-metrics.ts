/** What is counted of runs, phases and the journal. */
import type { Registry } from 'prom-client';
import type { Outcome } from '../../machine/index.ts';
import { type FleetqEvents, listen, type PhaseOutcome } from '../events.ts';
import { type CounterCell, Counters, type HistogramCell, Histograms } from './cells.ts';

export interface Moment {
  /** Wall time in milliseconds. */
  readonly now: () => number;
  /** Whether anybody reads exemplars: only then runs are remembered as such. */
  readonly wantsExemplars: () => boolean;
}

const DEAD: readonly Outcome[] = ['exhausted', 'aborted', 'timedOut'];
const OUTCOMES: readonly Outcome[] = ['completed', 'handedOff', 'cancelled', ...DEAD];
const SWEEP = 'recovery/sweep';

/** All that is counted of one phase of one machine. */
interface PhaseCells {
  readonly duration: HistogramCell;
  readonly ended: Map<PhaseOutcome, CounterCell>;
}
interface RunCells {
  readonly finished: CounterCell;
  readonly duration: HistogramCell;
  /** Where such an end is one of a dead letter. */
  readonly dead: CounterCell | undefined;
}
interface MachineCells {
  readonly started: CounterCell;
  readonly resumed: CounterCell;
  readonly queued: HistogramCell;
  readonly ends: Map<Outcome, RunCells>;
  /** By step, by phase. */
  readonly phases: Map<string, Map<string, PhaseCells>>;
}

interface EngineCounting {
  readonly stops: readonly (() => void)[];
  /** Such runs may come: they are shown from now on, so that the first of them is seen to be more. */
  expect(machine: string): void;
}

/** `dead` counts what failed for good, which is not only runs. */
export function countEngine(registry: Registry, dead: Counters, moment: Moment): EngineCounting {
  const of = {
    started: new Counters('fleetq_runs_started_total', registry),
    resumed: new Counters('fleetq_runs_resumed_total', registry),
    finished: new Counters('fleetq_runs_finished_total', registry),
    runs: new Histograms('fleetq_run_duration_seconds', registry),
    queue: new Histograms('fleetq_run_queue_seconds', registry),
    phases: new Counters('fleetq_phases_total', registry),
    durations: new Histograms('fleetq_phase_duration_seconds', registry),
    retries: new Counters('fleetq_retries_total', registry),
    sweeps: new Counters('fleetq_sweeps_total', registry),
    sweepSeconds: new Histograms('fleetq_sweep_duration_seconds', registry),
    claimed: new Counters('fleetq_tasks_claimed_total', registry),
  };
  const machines = new Map<string, MachineCells>();
  const machineOf = (machine: string): MachineCells => {
    let cells = machines.get(machine);
    if (!cells) {
      cells = {
        started: of.started.cell(machine),
        resumed: of.resumed.cell(machine),
        queued: of.queue.cell(machine),
        ends: new Map(),
        phases: new Map(),
      };
      machines.set(machine, cells);
      // A counter that begins with what it counts is not seen to rise, neither by rates nor by alerts.
      for (const outcome of OUTCOMES) of.finished.cell(machine, outcome);
      for (const outcome of DEAD) dead.cell(machine, outcome);
    }
    return cells;
  };
  const endOf = (machine: string, outcome: Outcome): RunCells => {
    const { ends } = machineOf(machine);
    let cells = ends.get(outcome);
    if (!cells) {
      const finished = of.finished.cell(machine, outcome);
      const isDead = DEAD.includes(outcome);
      const duration = of.runs.cell(machine, outcome);
      cells = { finished, duration, dead: isDead ? dead.cell(machine, outcome) : undefined };
      ends.set(outcome, cells);
    }
    return cells;
  };
  const phaseOf = (machine: string, step: string, phase: string): PhaseCells => {
    const { phases } = machineOf(machine);
    let steps = phases.get(step);
    if (!steps) {
      steps = new Map();
      phases.set(step, steps);
    }
    let cells = steps.get(phase);
    if (!cells) {
      cells = { duration: of.durations.cell(machine, step, phase), ended: new Map() };
      steps.set(phase, cells);
    }
    return cells;
  };
  const observe = (cell: HistogramCell, seconds: number, run: string): void => {
    const at = cell.observe(seconds);
    if (moment.wantsExemplars() && cell.isExemplary(at)) {
      cell.exemplify(at, seconds, run, moment.now());
    }
  };
  // Runs that were committed together end the same phase one after the other.
  let last: { of: FleetqEvents['phase.ended']; duration: HistogramCell; cell: CounterCell };
  const onPhase = (e: FleetqEvents['phase.ended']): void => {
    if (!last || !isAlike(last.of, e)) {
      const { duration, ended } = phaseOf(e.machine, e.step, e.phase);
      let cell = ended.get(e.outcome);
      if (!cell) {
        cell = of.phases.cell(e.machine, e.step, e.phase, e.outcome);
        ended.set(e.outcome, cell);
      }
      last = { of: e, duration, cell };
    }
    last.cell.value++;
    observe(last.duration, e.elapsedMs / 1_000, e.run);
    if (e.outcome === 'done') return;
    const cause = causeOf(e);
    if (cause) of.retries.cell(e.machine, e.step, e.phase, cause).value++;
  };
  const onEnd = (e: FleetqEvents['run.finished']): void => {
    const cells = endOf(e.machine, e.outcome);
    cells.finished.value++;
    const seconds = e.elapsedMs / 1_000;
    observe(cells.duration, seconds, e.run);
    if (cells.dead) cells.dead.value++;
    if (e.machine !== SWEEP || e.outcome === 'handedOff') return;
    of.sweeps.cell().value++;
    of.sweepSeconds.cell().observe(seconds);
  };
  const claimed = of.claimed.cell();
  const stops = [
    listen('run.started', ({ machine }) => {
      machineOf(machine).started.value++;
    }),
    listen('run.resumed', (e) => {
      machineOf(e.machine).resumed.value++;
      const dot = e.state.lastIndexOf('.');
      if (!e.wasInterrupted || dot < 0) return;
      const place = [e.state.slice(0, dot), e.state.slice(dot + 1)] as const;
      of.retries.cell(e.machine, ...place, 'interrupted').value++;
    }),
    listen('run.finished', onEnd),
    listen('run.quarantined', ({ machine }) => {
      dead.cell(machine, 'quarantined').value++;
    }),
    listen('phase.ended', onPhase),
    listen('task.claimed', ({ machine, waitedMs }) => {
      claimed.value++;
      if (waitedMs !== undefined) machineOf(machine).queued.observe(waitedMs / 1_000);
    }),
    ...countJournal(registry),
  ];
  return { stops, expect: (machine) => void machineOf(machine) };
}

function isAlike(a: FleetqEvents['phase.ended'], b: FleetqEvents['phase.ended']): boolean {
  return (
    a.phase === b.phase && a.outcome === b.outcome && a.step === b.step && a.machine === b.machine
  );
}

/** Why the phase is done again, where it is. */
function causeOf({ outcome, error }: FleetqEvents['phase.ended']): string | undefined {
  if (outcome === 'postponed') return 'postponed';
  if (outcome !== 'retried') return undefined;
  return error?.code === 'FLEETQ_PHASE_TIMEOUT' ? 'timeout' : 'threw';
}

function countJournal(registry: Registry): (() => void)[] {
  const commits = new Counters('fleetq_journal_commits_total', registry).cell();
  const records = new Counters('fleetq_journal_records_total', registry).cell();
  const stalls = new Counters('fleetq_journal_stalls_total', registry).cell();
  const append = new Histograms('fleetq_journal_append_seconds', registry).cell();
  const fsync = new Histograms('fleetq_journal_fsync_seconds', registry).cell();
  return [
    listen('journal.committed', (e) => {
      commits.value++;
      records.value += e.records;
      append.observe(e.elapsedMs / 1_000);
      fsync.observe(e.syncMs / 1_000);
    }),
    listen('journal.stalled', () => {
      stalls.value++;
    }),
  ];
}
