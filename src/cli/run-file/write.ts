/** Puts an exported run into a file that only its owner may read: it holds inputs and outputs. */
import { closeSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { type RunFile, sealedFile } from '../../fleet/run-file/format.ts';
import { describeError } from '../../ground/index.ts';
import { RunFileError } from '../errors.ts';

const OWNER_ONLY = 0o600;

export function textOf(file: RunFile): string {
  return `${JSON.stringify(sealedFile(file), undefined, 2)}\n`;
}

/** Refuses to write over anything unless `isForced`; then whoever reads it sees the old or the new. */
export function writeRunFile(path: string, text: string, isForced: boolean): void {
  const target = isForced ? `${path}.${process.pid}.tmp` : path;
  let isOurs = false;
  try {
    const descriptor = openSync(target, 'wx', OWNER_ONLY);
    isOurs = true;
    try {
      writeAll(descriptor, text);
    } finally {
      closeSync(descriptor);
    }
    if (isForced) renameSync(target, path);
  } catch (cause) {
    // Half of a run is of no use to anybody.
    if (isOurs) rmSync(target, { force: true });
    throw refusal(path, cause);
  }
}

function writeAll(descriptor: number, text: string): void {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at);
}

function refusal(path: string, cause: unknown): RunFileError {
  if ((cause as NodeJS.ErrnoException).code === 'EEXIST') {
    return new RunFileError(`${path} is there already`, {
      cause,
      hint: 'name another file with --out, or write over it with --force',
    });
  }
  return new RunFileError(`${path} cannot be written: ${describeError(cause).message}`, { cause });
}
