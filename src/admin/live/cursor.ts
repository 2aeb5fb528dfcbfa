/**
 * Where a client is in everything it follows, as one word: the `id` of every event. Whoever answers
 * next goes on from there, in this process or another. It is opaque to clients, and is believed
 * nothing that is not compared with what is there.
 */
import { isRunId, type RunId } from '../../ground/index.ts';

/** The last record of a run that was told. Its hash says whether it still counts. */
export interface Position {
  readonly generation: number;
  readonly epoch: number;
  /** -1: nothing yet. */
  readonly seq: number;
  /** The beginning of the hash is enough to tell two records of one number apart. */
  readonly hash: string;
}

export interface Cursor {
  /** Whose count `change` is of. */
  readonly teller: string;
  /** How many changes of the list were told. */
  readonly change: number;
  readonly runs: ReadonlyMap<RunId, Position>;
}

export const HASH_LENGTH = 12;
const LENGTH_MAX = 4_000;
const FORM = '1';
const COUNT = /^\d{1,15}$/;
const WORD = /^[\da-f]{0,32}$/;

export function encodeCursor({ teller, change, runs }: Cursor): string {
  const told = [...runs].map(
    ([run, { generation, epoch, seq, hash }]) => `${run}_${generation}_${epoch}_${seq}_${hash}`,
  );
  return [FORM, teller, change, ...told].join('.');
}

/** Undefined where it is none of ours: then nothing is known of what the client has. */
export function decodeCursor(text: string): Cursor | undefined {
  if (text.length > LENGTH_MAX) return undefined;
  const [form, teller = '', change = '', ...told] = text.split('.');
  if (form !== FORM || !WORD.test(teller) || !COUNT.test(change)) return undefined;
  const runs = new Map<RunId, Position>();
  for (const word of told) {
    const [run = '', generation = '', epoch = '', seq = '', hash = ''] = word.split('_');
    const counts = [generation, epoch, seq === '-1' ? '0' : seq];
    if (!isRunId(run) || !counts.every((count) => COUNT.test(count)) || !WORD.test(hash)) {
      return undefined;
    }
    runs.set(run, {
      generation: Number(generation),
      epoch: Number(epoch),
      seq: Number(seq),
      hash: hash.slice(0, HASH_LENGTH),
    });
  }
  return { teller, change: Number(change), runs };
}
