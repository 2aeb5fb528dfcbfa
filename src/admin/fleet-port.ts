/** What the socket needs of a fleet. The Fleet of main.ts is one; so is a journal read offline. */
import type { RunSummary } from '../engine/index.ts';
import type { Codec, RunFilter, StoredRecord } from '../journal/index.ts';
import type { Outcome, Transition } from '../machine/index.ts';
import type { SharedPort } from './desk/shared.ts';
import type { Sources } from './live/index.ts';

export interface MachineInfo {
  readonly name: string;
  readonly version: number;
  readonly fingerprint: string;
  readonly transitions: readonly Transition[];
  /** The JSON Schema of its input, where its schema can tell it. */
  readonly input?: unknown;
  /** How often each phase may be tried, by its state. */
  readonly attemptMax?: Readonly<Record<string, number>> | undefined;
}

export interface RunReader {
  /** Runs, newest first. */
  runs(filter: RunFilter): RunSummary[];
  describe(id: string): RunSummary;
  events(id: string, afterSeq?: number): StoredRecord[];
  /** Where it can read from a record on: those after it, until there are so many bytes of them. */
  page?(id: string, afterSeq: number, bytesMax: number): StoredRecord[];
  lastSeq?(id: string): number;
}

export interface FleetPort extends RunReader {
  /** Of what it has written. */
  readonly codec: Codec;
  /** The tables it shares with others; undefined where there are none. */
  readonly shared?: SharedPort | undefined;
  /** What streams tell from; its journal alone where nothing is said. */
  readonly sources?: Sources | undefined;
  readonly status: object;
  readonly machines: readonly MachineInfo[];
  /** Somebody wants this process to drain: it does so as its owner has said that it should. */
  requestDrain(): void;
  /**
   * Whether the newest version of the machine wants this input, or the one that is said, where that is
   * here: throws where it does not.
   */
  checkInput(name: string, input: unknown, version?: number): Promise<void>;
  startByName(
    name: string,
    input: unknown,
    options?: { readonly key?: string | undefined },
  ): Promise<{ readonly id: string }>;
  runById(id: string): {
    result(options: { readonly timeout: number }): Promise<unknown>;
    cancel(reason?: string): Promise<{ readonly isCancelled: boolean; readonly outcome: Outcome }>;
  };
}
