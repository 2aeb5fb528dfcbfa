/** Reads an exported run, and holds it against its hashes: what was changed is named, and not shown. */
import { readFileSync, statSync } from 'node:fs';
import {
  FORMAT,
  type Generation,
  KIND,
  type RunFile,
  rowOf,
  type SealedFile,
  sealOf,
  summaryPlace,
} from '../../fleet/run-file/format.ts';
import {
  describeError,
  describeSealed,
  isRunId,
  KeyMissingError,
  type RunId,
  show,
} from '../../ground/index.ts';
import {
  type Codec,
  DamagedRunError,
  identityCodec,
  lookingCodec,
  type StoredRecord,
} from '../../journal/index.ts';
import { decodeRows } from '../../journal/record.ts';
import { openRow } from '../../store/index.ts';
import { RunFileError, UsageError } from '../errors.ts';
import { decodeText } from '../input.ts';
import { isRunFile } from './check.ts';

const BYTES_MAX = 512 * 1024 * 1024;

export interface ReadRun {
  readonly file: RunFile;
  /** Of each generation, by its number. */
  readonly records: ReadonlyMap<number, readonly StoredRecord[]>;
}

/** What pods have sealed is sealed in the file, and opened by whoever has the key. */
export function readRunFile(path: string, codec: Codec = identityCodec): ReadRun {
  const value = parse(path, textOf(path));
  refuseForeign(path, value);
  if (!isRunFile(value)) {
    throw new RunFileError(`${path} is not what was exported: it lacks what every run has`, {
      hint: 'export it anew with: fleetq export <run>',
    });
  }
  const records = new Map(
    value.generations.map((each) => [
      each.generation,
      recordsOf(path, value, each, lookingCodec(codec)),
    ]),
  );
  if (sealOf(value) !== value.seal) {
    throw changed(path, 'its records fit, and what it says beside them does not');
  }
  return { file: opened(path, value, codec), records };
}

/** With what the codec opens of its texts. What there is no key for is told as such. */
function opened(path: string, file: SealedFile, codec: Codec): RunFile {
  if (file.task) return { ...file, task: openRow(codec, file.task) };
  if (file.sealed === undefined) return file;
  const { sealed, run } = file;
  const whole = { ...file, run: { ...run, ...textsOf(path, sealed, file.id, codec) } };
  if (isRunFile(whole)) return whole;
  throw changed(path, 'what was sealed of it is not of a run');
}

function textsOf(path: string, sealed: string, run: RunId, codec: Codec): object {
  try {
    return Object(JSON.parse(codec.decode(sealed, summaryPlace(run)))) as object;
  } catch (cause) {
    if (cause instanceof KeyMissingError) return { input: { sealed: describeSealed(sealed) } };
    throw changed(path, 'what was sealed of it does not open', cause);
  }
}

function recordsOf(path: string, { id }: RunFile, part: Generation, codec: Codec): StoredRecord[] {
  const { generation, lastSeq, records } = part;
  try {
    const rows = records.map((record) => rowOf(id, record));
    const decoded = rows.length === 0 ? [] : decodeRows(id, rows, codec);
    const odd = decoded.find(({ event }) => typeof event !== 'object' || event === null);
    if (odd) throw changed(path, `generation ${generation}: record ${odd.seq} is no event`);
    const last = decoded.at(-1)?.seq ?? -1;
    if (last === lastSeq) return decoded;
    const told = `generation ${generation} ends at record ${last}, and ended at ${lastSeq}`;
    throw changed(path, told);
  } catch (cause) {
    if (!(cause instanceof DamagedRunError)) throw cause;
    throw changed(path, `generation ${generation}: ${cause.message}`, cause);
  }
}

function changed(path: string, what: string, cause?: unknown): RunFileError {
  return new RunFileError(`${path} is not what was exported: ${what}`, {
    cause,
    hint: 'export it anew with: fleetq export <run>',
  });
}

function textOf(path: string): string {
  try {
    const found = statSync(path);
    if (!found.isFile()) throw new Error('it is not a file');
    if (found.size > BYTES_MAX) throw new Error(`it is larger than ${BYTES_MAX} bytes`);
    return decodeText(readFileSync(path), path);
  } catch (cause) {
    if (cause instanceof UsageError) throw cause;
    throw new UsageError(`${path} cannot be read: ${describeError(cause).message}`, { cause });
  }
}

function parse(path: string, text: string): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(text)) as Record<string, unknown>;
  } catch (cause) {
    throw new RunFileError(`${path} is not JSON: ${describeError(cause).message}`, { cause });
  }
}

function refuseForeign(
  path: string,
  { kind, format, id }: Readonly<Record<string, unknown>>,
): void {
  if (kind !== KIND) {
    throw new RunFileError(`${path} holds no exported run: its kind is ${show(kind)}`, {
      hint: 'such files are written by: fleetq export <run>',
    });
  }
  if (format !== FORMAT) {
    throw new RunFileError(`${path} has format ${show(format)}, and this FleetQ reads ${FORMAT}`, {
      hint: 'read it with the FleetQ that has written it',
    });
  }
  if (typeof id !== 'string' || !isRunId(id)) {
    throw new RunFileError(`${path} is not what was exported: ${show(id)} is no run's id`);
  }
}
