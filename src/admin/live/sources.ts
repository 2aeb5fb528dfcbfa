/** Where a stream has what it tells from: the journal of this process, and the shared tables. */
import { RunNotFoundError } from '../../engine/index.ts';
import type { RunId } from '../../ground/index.ts';
import { type Codec, decodeRowsAfter, type StoredRecord } from '../../journal/index.ts';
import type { PodId, Store, TaskGlance } from '../../store/index.ts';
import type { RunReader } from '../fleet-port.ts';
import type { Decode } from '../reading.ts';
import type { IsOver } from './guards.ts';

export interface LocalRun {
  /** Of a task of the fleet that is held here. */
  readonly generation: number | undefined;
  readonly hasEnded: boolean;
}

/** The runs that this process has on its disk. */
export interface LocalRuns {
  /** Of the journal; tasks that are pinned to it are this process's own. */
  readonly journal: string;
  /** Under which it holds tasks now. */
  pod(): PodId | undefined;
  find(run: RunId): LocalRun | undefined;
  /** Its records after this one, verified, until there are so many bytes of them; one at least. */
  page(run: RunId, afterSeq: number, bytesMax: number): readonly StoredRecord[];
  /** The number of its last record; -1 where it has none. */
  lastSeq(run: RunId): number;
}

/** A reader of the store is one, and so is the store. */
export type LiveStore = Pick<Store, 'watch' | 'outlines' | 'recordsIn' | 'pods'>;

export interface Sources {
  readonly local: LocalRuns | undefined;
  /** Undefined where there is none; opened when somebody looks. */
  readonly store: (() => Promise<LiveStore>) | undefined;
  /** Verifies a run's rows behind one of its records, and reads them. */
  readonly decode: Decode;
}

/** A run that was never redriven, or was started here. */
export const FIRST_GENERATION = 1;

/** How what is told is shown to whoever asks: masked where that may not be seen. */
export interface View {
  record(record: StoredRecord): object;
  task(task: TaskGlance): object;
}

export const wholeView: View = { record: (record) => record, task: (task) => task };

/** What a client wants to be told. */
export interface StreamAsked {
  readonly topics: string | null | undefined;
  /** As the client has it from the `id` of the last event; a browser sends it as a header. */
  readonly lastEventId?: string | undefined;
  readonly view?: View | undefined;
  /** Beside those of the stream itself. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly isOver?: IsOver | undefined;
}

/** A journal alone, such as one that nobody holds: looked at through whoever can read it. */
export function journalSources(reader: RunReader, codec: Codec): Sources {
  return {
    local: {
      journal: '',
      pod: () => undefined,
      find: (run) => {
        try {
          const { generation, finishedAt } = reader.describe(run);
          return { generation, hasEnded: finishedAt !== undefined };
        } catch (error) {
          if (error instanceof RunNotFoundError) return undefined;
          throw error;
        }
      },
      page: (run, afterSeq, bytesMax) =>
        reader.page?.(run, afterSeq, bytesMax) ?? reader.events(run, afterSeq),
      lastSeq: (run) => reader.lastSeq?.(run) ?? reader.events(run).at(-1)?.seq ?? -1,
    },
    store: undefined,
    decode: (run, rows, after) => decodeRowsAfter(run, rows, codec, after),
  };
}
