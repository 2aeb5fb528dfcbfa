/**
 * Counters and gauges in the text format that Prometheus reads, fed by named events. A label holds
 * one of a few words that FleetQ itself chose: never an id, an input, or a name that a stranger wrote.
 */
import { type EventName, type FleetqEvents, listen } from '../telemetry/events.ts';

/** What is looked up when somebody asks; undefined where there is no such thing here. */
export type Gauges = Readonly<Record<string, number | undefined>>;

type Label = readonly [name: string, value: string];
interface Counter {
  readonly about: string;
  readonly label?: string;
  readonly counts: Map<string, number>;
}

/** So many values a label may have; what comes beyond is counted as `other`. */
const LABEL_VALUES_MAX = 50;

export class Metrics {
  readonly #counters = new Map<string, Counter>();
  readonly #stops: (() => void)[] = [];

  /** Counts from now on, until `stop`. */
  start(): void {
    this.#count('run.started', 'runs_started', 'Runs begun by this process');
    this.#count('run.resumed', 'runs_resumed', 'Runs taken up from their records');
    this.#countBy('run.finished', 'runs_finished', 'Runs ended', 'outcome', (e) => e.outcome);
    this.#countBy('phase.ended', 'phases_ended', 'Phases ended', 'outcome', (e) => e.outcome);
    this.#count('task.claimed', 'tasks_claimed', 'Tasks claimed');
    this.#count('task.refused', 'tasks_refused', 'Claimed rows that made no sense');
    this.#countBy('task.settled', 'tasks_settled', 'Tasks settled', 'to', (e) => e.to);
    this.#count('claim.answered', 'claims_asked', 'Times the store was asked for tasks');
    this.#count('claim.lost', 'claims_lost', 'Claims that others had taken');
    this.#sum('archive.flushed', 'runs_archived', 'Runs archived before they ended', (e) => e.runs);
    this.#countBy('store.failed', 'store_failures', 'Calls that failed', 'call', (e) => e.what);
    this.#count('pod.died', 'pod_deaths', 'Times this process was taken for dead');
    this.#count('pod.alone', 'phases_delayed', 'Phases held back without an answer of the store');
    this.#count('journal.committed', 'journal_commits', 'Group commits of the journal');
    this.#sum('journal.committed', 'journal_records', 'Records written', (e) => e.records);
    this.#count('journal.stalled', 'journal_stalls', 'Times the journal could not be written');
    this.#count('recovery.failed', 'recovery_failures', 'Recovery runs that failed');
  }

  stop(): void {
    for (const stop of this.#stops.splice(0)) stop();
  }

  /** All of them, and these gauges, as text. */
  text(gauges: Gauges): string {
    const lines: string[] = [];
    for (const [name, { about, label, counts }] of this.#counters) {
      lines.push(`# HELP ${name} ${about}.`, `# TYPE ${name} counter`);
      for (const [value, count] of counts) {
        lines.push(`${name}${label ? labelText([label, value]) : ''} ${count}`);
      }
    }
    for (const [name, value] of Object.entries(gauges)) {
      if (value === undefined) continue;
      const type = name.endsWith('_total') ? 'counter' : 'gauge';
      lines.push(`# TYPE ${name} ${type}`, `${name} ${value}`);
    }
    return `${lines.join('\n')}\n`;
  }

  #count(event: EventName, noun: string, about: string): void {
    this.#sum(event, noun, about, () => 1);
  }

  #sum<N extends EventName>(
    event: N,
    noun: string,
    about: string,
    add: (event: FleetqEvents[N]) => number,
  ): void {
    const counter = this.#counter(noun, { about, counts: new Map([['', 0]]) });
    this.#listen(event, (e) => counter.counts.set('', (counter.counts.get('') ?? 0) + add(e)));
  }

  #countBy<N extends EventName>(
    event: N,
    noun: string,
    about: string,
    label: string,
    wordOf: (event: FleetqEvents[N]) => string,
  ): void {
    const { counts } = this.#counter(noun, { about, label, counts: new Map() });
    this.#listen(event, (e) => {
      const value = wordOf(e);
      const known = counts.has(value) || counts.size < LABEL_VALUES_MAX ? value : 'other';
      counts.set(known, (counts.get(known) ?? 0) + 1);
    });
  }

  #counter(noun: string, counter: Counter): Counter {
    this.#counters.set(`fleetq_${noun}_total`, counter);
    return counter;
  }

  #listen<N extends EventName>(event: N, act: (event: FleetqEvents[N]) => void): void {
    this.#stops.push(listen(event, act));
  }
}

function labelText([name, value]: Label): string {
  const escaped = value.replaceAll(/[\\"\n]/g, (c) => (c === '\n' ? '\\n' : `\\${c}`));
  return `{${name}="${escaped}"}`;
}
