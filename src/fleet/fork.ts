/**
 * The beginning of a run as that of another: its records up to where it came to a phase, under another
 * id and chained anew, so that whoever claims the new task goes on from there. What a phase was given
 * as its idempotency key is made of the id, so that the new run has keys of its own.
 */
import type { Json, RunId } from '../ground/index.ts';
import { CHAIN_START, type Codec, encodeEntry, type StoredRecord } from '../journal/index.ts';
import type { RunEvent } from '../machine/index.ts';
import type { Deed } from '../store/index.ts';
import { ForkError } from './errors.ts';
import { segmentOf } from './history.ts';

export interface ForkSource {
  readonly task: RunId;
  readonly generation: number;
  /** All that is on record of that generation. */
  readonly records: readonly StoredRecord[];
}

export interface ForkOptions {
  readonly as: RunId;
  /** A phase that is on record, such as `main.work`: it is the first that the new run performs. */
  readonly from: string;
  /** Undefined: as it was. */
  readonly input?: Json | undefined;
  readonly codec: Codec;
}

/** Of the generation that its beginning is written in, before its first owner's. */
const FIRST = { generation: 1, epoch: 1 };

export function forkOf(source: ForkSource, options: ForkOptions): Extract<Deed, { what: 'fork' }> {
  const { as, from, codec } = options;
  const prefix = prefixTo(source, from);
  const input = options.input === undefined ? inputOf(prefix) : options.input;
  const givenAt = prefix.findLastIndex(({ event }) => 'input' in event);
  let prevHash: string = CHAIN_START;
  const written = prefix.map(({ at, event, state }, seq) => {
    const own = seq === givenAt ? { ...event, input } : event;
    const entry = { run: as, seq, at, epoch: FIRST.epoch, state, prevHash };
    const { data, hash } = encodeEntry({ ...entry, event: began(own as RunEvent, source) }, codec);
    prevHash = hash;
    return { seq, at, epoch: FIRST.epoch, event: event.type, state, data, hash };
  });
  const segment = segmentOf({ task: as, ...FIRST }, CHAIN_START, written)!;
  const { events: records, lastSeq, lastHash, state } = segment;
  return { what: 'fork', as, payload: JSON.stringify(input), records, lastSeq, lastHash, state };
}

/** What the run was given, or what an upgrade has made of that since. */
export function inputOf(records: readonly StoredRecord[]): Json {
  const given = records.findLast(({ event }) => 'input' in event)?.event;
  return given && 'input' in given ? given.input : null;
}

/** Up to where it first came there. Who took it over on the way is no part of another task's history. */
export function prefixTo({ task, records }: ForkSource, from: string): StoredRecord[] {
  const index = records.findIndex(({ state }) => state === from);
  const last = records[index]?.event;
  if (!last || isEnding(from)) {
    const known = [...new Set(records.map(({ state }) => state))].filter((it) => !isEnding(it));
    throw new ForkError(`${task} has never been at ${from}`, {
      hint:
        known.length > 0
          ? `it has been at: ${known.join(', ')}`
          : 'the store has no records of it: enqueue a new task',
    });
  }
  return records.slice(0, index + 1).filter(({ event }) => event.type !== 'TAKEN');
}

function isEnding(state: string): boolean {
  return !state.includes('.');
}

/** Its first record says where it comes from; a key stands for one task, and that is the other. */
function began(event: RunEvent, { task, generation }: ForkSource): RunEvent {
  if (event.type !== 'STARTED') return event;
  const { key: _, deadlineAt: __, ...rest } = event;
  return { ...rest, generation: FIRST.generation, forkedFrom: { task, generation } };
}
