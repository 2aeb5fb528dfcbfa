/** The store as people see it: read by connections of its own, changed by acts that leave a row. */
import type { RunNow } from '../../fleet/index.ts';
import type { Duration, RunId } from '../../ground/index.ts';
import {
  type Act,
  type ActAnswer,
  type BulkAnswer,
  type BulkBegun,
  type BulkOrder,
  type FlowAnswer,
  type FlowChange,
  type FollowsOn,
  leaderOf,
  type NewBulk,
  type Note,
  type PodId,
  type PodRow,
  type ScheduleAnswer,
  type ScheduleChange,
  type ScheduleRow,
  type StartNote,
  type StoreReader,
  type ThrottleAnswer,
  type ThrottleChange,
} from '../../store/index.ts';

export interface Starting {
  readonly key?: string | undefined;
  readonly queue?: string | undefined;
  readonly serialKey?: string | undefined;
  readonly priority?: number | undefined;
  readonly runAt?: Duration | Date | undefined;
  readonly retriesMax?: number | undefined;
  /** The run that it goes after. */
  readonly after?: string | undefined;
  readonly on?: FollowsOn | undefined;
  /** Its row in the audit log. */
  readonly note: StartNote;
}

/** What the owner of a store gives: a fleet's member, or a process that only serves. */
export interface SharedPort {
  act(act: Act): Promise<ActAnswer>;
  /** A row of the audit log for what is no change of a task. Answers whether it was there already. */
  note(note: Note): Promise<boolean>;
  /** What is done to many tasks at once, and what people want to become of that. */
  beginBulk(bulk: NewBulk): Promise<BulkBegun>;
  orderBulk(order: BulkOrder): Promise<BulkAnswer>;
  /** What becomes of a queue or of a machine. */
  changeFlow(change: FlowChange): Promise<FlowAnswer>;
  changeSchedule(change: ScheduleChange): Promise<ScheduleAnswer>;
  /** One run of it now, where its machine is known here. */
  runSchedule(row: ScheduleRow, by: RunNow): Promise<ScheduleAnswer>;
  changeThrottle(change: ThrottleChange): Promise<ThrottleAnswer>;
  requestDrain(pod: PodId): Promise<boolean>;
  /** After this silence a pod that gave none of its own is taken for dead. */
  readonly silentMs: number;
  openReader(): Promise<StoreReader>;
  /**
   * Gives a task to the fleet, with its row in the audit log; refused where its machine is not known
   * here, or does not want it.
   */
  start(machine: string, input: unknown, options: Starting): Promise<{ readonly id: RunId }>;
  /** Whether the machine wants this input: throws where it does not. */
  checkInput(machine: string, input: unknown, version?: number): Promise<void>;
  /** Resolves when the task has ended; rejects where it has not within `timeout`. */
  ended(id: RunId, timeout: number): Promise<unknown>;
}

export interface PodView extends Omit<PodRow, 'seq'> {
  readonly isLeader: boolean;
  /** Up or draining, and not heard of for longer than a silence. */
  readonly isSilent: boolean;
}

export class Shared {
  readonly port: SharedPort;
  #reader: Promise<StoreReader> | undefined;

  constructor(port: SharedPort) {
    this.port = port;
  }

  /** Opened when it is first asked for: who is never looked at needs no connections for that. */
  reader(): Promise<StoreReader> {
    this.#reader ??= this.port.openReader().catch((error) => {
      this.#reader = undefined;
      throw error;
    });
    return this.#reader;
  }

  async close(): Promise<void> {
    const reader = await this.#reader?.catch(() => undefined);
    await reader?.close();
  }

  /** Every pod there is, oldest first. */
  async pods(): Promise<PodView[]> {
    const rows = await (await this.reader()).pods();
    const isSilent = (row: PodRow) => row.silentMs >= (row.silenceMs ?? this.port.silentMs);
    const leading = leaderOf(rows, this.port.silentMs);
    return rows.map(({ seq: _, ...row }) => {
      const isLive = row.status === 'up' || row.status === 'draining';
      const isLeader = row.pod === leading?.pod;
      return { ...row, isLeader, isSilent: isLive && isSilent({ ...row, seq: 0 }) };
    });
  }
}
