/**
 * Goes on with runs whose version this process does not have, where a newer one may. Which one that is
 * has to be durable before a phase of it begins: a process that comes later, with other versions again,
 * must find out from the records under which line they were made.
 *
 *   records of version 1 ─→ which version? ─→ ADVANCED or UPGRADED is durable ─→ taken up as any other
 *                               └──────────→ none: blocked, with the reason
 */
import { type Clock, describeError } from '../ground/index.ts';
import type { Journal } from '../journal/index.ts';
import { originOf, type Registry, type Succession, successionOf } from '../machine/index.ts';
import { tell } from '../telemetry/events.ts';
import { putAside } from './endings.ts';
import { liveRunOf, ofRun } from './live-run.ts';
import type { Recorder } from './recorder.ts';
import { type Resumption, resumed } from './resume.ts';
import type { RunTable } from './run-table.ts';

export interface SuccessorPorts {
  readonly journal: Journal;
  readonly clock: Clock;
  readonly registry: Registry;
  readonly resultBytesMax: number;
  readonly runs: RunTable;
  readonly recorder: Recorder;
  /** The run stands under its new version, and that is durable. */
  readonly onTaken: (found: Resumption) => void;
}

type Succeeding = Extract<Resumption, { readonly kind: 'succeeds' }>;
type Taken = Extract<Resumption, { readonly kind: 'run' }>;
const NOTHING_INSIDE = { wasInterrupted: false, wasInside: false, isOwed: false };
type Moving = Extract<Succession, { readonly kind: 'advances' | 'upgrades' }>;

export class Successor {
  readonly #ports: SuccessorPorts;

  constructor(ports: SuccessorPorts) {
    this.#ports = ports;
  }

  /** Schemas may be asynchronous, so this only begins; the run harms no other meanwhile. */
  take(found: Succeeding): void {
    const { runs } = this.#ports;
    const { row } = found;
    if (runs.succeeding.has(row.id)) return;
    const taken = this.#take(found)
      .catch((error) => this.#setAside(found, 'quarantined', describeError(error).message))
      .finally(() => runs.succeeding.delete(row.id));
    runs.succeeding.set(row.id, taken);
  }

  async #take(found: Succeeding): Promise<void> {
    const { registry, runs } = this.#ports;
    const succession = await successionOf(this.#ports, registry, found.records);
    // Whoever comes next finds it as it is, and may have other versions.
    if (runs.isDraining) return;
    if (succession.kind === 'advances' || succession.kind === 'upgrades') {
      await this.#move(found, succession);
    } else {
      const reason = 'reason' in succession ? succession.reason : 'its version came back';
      this.#setAside(found, 'blocked', reason);
    }
  }

  async #move({ row, records, evidence }: Succeeding, succession: Moving): Promise<void> {
    const { journal, runs, recorder, onTaken } = this.#ports;
    const { plan, state, event } = succession;
    const run = liveRunOf(plan, row.id, journal.boot, state, records);
    // An upgraded step begins anew, with its check: whatever was interrupted is of the former line.
    const taken: Taken =
      event.type === 'ADVANCED'
        ? resumed(run, records, evidence)
        : { kind: 'run', run, ...NOTHING_INSIDE, waitMs: undefined, records };
    runs.live.set(run.id, run);
    await recorder.record(run, { ...event, ...cutOff(taken) });
    if (runs.isClosed) return;
    const from = originOf(records).version;
    const { at } = run.state;
    const name = event.type === 'ADVANCED' ? 'run.advanced' : 'run.upgraded';
    tell(name, () => ({ ...ofRun(run), from, state: at }));
    onTaken(taken);
  }

  #setAside({ row, records }: Succeeding, status: 'blocked' | 'quarantined', reason: string): void {
    const { runs } = this.#ports;
    if (runs.isClosed) return;
    const { state } = records.at(-1)!;
    putAside(runs, { kind: 'setAside', row, status, state, reason, records });
  }
}

/** Should this process die before it counts the interruption, the record says that it is due. */
function cutOff({ wasInterrupted }: Taken): { readonly interruption?: 'cut' } {
  return wasInterrupted ? { interruption: 'cut' } : {};
}
