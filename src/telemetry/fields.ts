/**
 * What log lines are made of, and what of an error goes into them. A message of users' code may hold
 * anything, a secret included; so by default a line tells what was thrown, and where, and no words.
 */
import { constants } from 'node:os';
import type { TelemetryDetail } from '../config/index.ts';
import { type ErrorInfo, traceIdOf } from '../ground/index.ts';
import type { EventName, FleetqEvents } from './events.ts';

export type Level = 'debug' | 'info' | 'warn' | 'error';

export interface Line {
  readonly level: Level;
  readonly message: string;
  readonly fields?: object | undefined;
}
export type Lines = { readonly [N in EventName]?: (event: FleetqEvents[N], told: Told) => Line };

/** How much may be told. */
export interface Told {
  /** Of an error that users' code, or what it gave, may have had a part in. */
  err(error: ErrorInfo | undefined): object | undefined;
  /** Of one of the disk, the network or the store, whose words are what has to be known. */
  ownErr(error: ErrorInfo): object | undefined;
  /** Words that users' code, or people, have chosen. */
  words(text: string | undefined): string | undefined;
}

export function toldBy(detail: TelemetryDetail): Told {
  if (detail === 'full') return { err: fullErr, ownErr: fullErr, words: (text) => text };
  return {
    err: safeErr,
    ownErr: (error) => (isWordy(error) ? safeErr(error) : fullErr(withoutStack(error))),
    words: () => undefined,
  };
}

/** Their messages quote what was to be stored, or repeat what a run has said. */
function isWordy({ code }: ErrorInfo): boolean {
  return code === 'FLEETQ_STORE_REFUSED' || /^FLEETQ_(RUN|PHASE)_/.test(code ?? '');
}

function withoutStack({ name, message, code }: ErrorInfo): ErrorInfo {
  return code === undefined ? { name, message } : { name, message, code };
}

/** Without a prototype: pino's own serializer would name its type after the class of this object. */
function fullErr(error: ErrorInfo | undefined): object | undefined {
  if (!error) return undefined;
  const { name, message, code, stack, causes } = error;
  return bare(name, { type: name, message, code, stack, ...(causes ? { cause: causes } : {}) });
}

function safeErr(error: ErrorInfo | undefined): object | undefined {
  if (!error) return undefined;
  const type = typeOf(error.name);
  return bare(type, { type, code: codeOf(error.code), at: frameOf(error) });
}

function bare(name: string, fields: object): object {
  const err: object = Object.assign(Object.create(null), fields);
  return Object.defineProperty(err, 'name', { value: name, enumerable: false });
}

/** A class is called like this; whatever is not is somebody's words. */
export function typeOf(name: string): string {
  return /^[A-Z][A-Za-z]{0,59}$/.test(name) ? name : 'Error';
}

/** What Node.js says where a name leads nowhere, which is no errno of any system. */
const NAMING: ReadonlySet<string> = new Set(['ENOTFOUND', 'ENODATA', 'ESERVFAIL', 'EREFUSED']);

/** Codes that Node.js, the operating system, SQL and FleetQ give; of others one cannot know. */
export function codeOf(code: string | undefined): string | undefined {
  if (code === undefined) return undefined;
  const isKnown =
    Object.hasOwn(constants.errno, code) ||
    /^(FLEETQ|ERR|UND_ERR|EAI|SQLITE)(_[A-Z]+)+$/.test(code) ||
    NAMING.has(code) ||
    /^[0-9]{2}[0-9A-Z]{3}$/.test(code);
  return isKnown ? code : undefined;
}

interface OfTask {
  readonly run: string;
}
interface OfRun extends OfTask {
  readonly machine: string;
  readonly version: number;
  readonly epoch?: number | undefined;
}

/** The trace is that of the run, whether or not anybody traces. */
export function ofTask({ run }: OfTask) {
  return { run_id: run, trace_id: traceIdOf(run) };
}

export function ofRun(e: OfRun) {
  return { ...ofTask(e), machine: e.machine, machine_version: e.version, epoch: e.epoch };
}

const FRAME = /^ {4}at (?:.{1,200} \()?((?:[^\s()]|\\ ){1,300}:\d+:\d+)\)?$/;

/** Where it was thrown: the first frame below the message. */
export function frameOf({ name, message, stack = '' }: ErrorInfo): string | undefined {
  const heads = [`${name}: ${message}`, name];
  const head = heads.find((text) => stack.startsWith(text));
  // A stack that begins otherwise has somebody's words in front, of unknown length: its last frames
  // are none of them.
  const lines =
    head === undefined ? stack.split('\n').slice(-1) : stack.slice(head.length).split('\n');
  for (const line of lines) {
    const place = FRAME.exec(line)?.[1];
    if (place !== undefined) return place;
  }
  return undefined;
}
