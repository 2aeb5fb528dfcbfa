/**
 * How the mark is laid out, for the one who writes it and the one who reads it.
 *
 *   header     magic 8 · journal id 32 · kernel boot 36 · lsn 8 · unknown until lsn 8 ·
 *              count of inherited 4 · count of slots 4 · crc 4
 *   inherited  run id 26 · seq 4 · crc 4 · last seq 4, each in 48 bytes
 *   slot n     run id 26 · seq 4 · crc 4, each in 48 bytes
 */
import { readFileSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import type { RunId } from '../ground/index.ts';

export const MAGIC = 'FQMARK1\n';
export const HEADER_BYTES = 128;
export const BOOT_AT = 40;
export const LSN_AT = 76;
export const UNKNOWN_AT = 84;
export const INHERITED_AT = 92;
export const SLOTS_AT = 96;
export const CRC_AT = 100;
export const SLOT_BYTES = 48;
export const SLOT_USED = 26 + 4;
export const NO_BOOT = 'unknown'.padEnd(36);

/** A run that was inside a phase when an earlier process died, and that nothing was recorded of since. */
export interface Inherited {
  readonly run: RunId;
  /** The seq it had reached when it was given its slot. */
  readonly seq: number;
  /** The last one it had when this was written; with a later one it has been dealt with. */
  readonly lastSeq: number;
}

export interface Mark {
  readonly journalId: string;
  readonly lsn: number;
  /** False where what was being executed cannot be told. */
  readonly isComplete: boolean;
  /** Of runs that have moved on since this lsn everything is known. */
  readonly unknownUntil: number;
  readonly inherited: readonly Inherited[];
  readonly slots: ReadonlyMap<RunId, number>;
}

export function sumOf(run: string, seq: number, lastSeq?: number): number {
  return crc32(lastSeq === undefined ? `${run}${seq}` : `${run}${seq}:${lastSeq}`);
}

let boot: string | undefined;
/** An id of this boot of the kernel: page cache written before another boot may be lost. */
export function kernelBoot(): string {
  boot ??= readBootId();
  return boot;
}

function readBootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim().padEnd(36).slice(0, 36);
  } catch {
    return NO_BOOT;
  }
}
