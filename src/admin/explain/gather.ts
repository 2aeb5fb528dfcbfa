/** The facts of one run: a handful of questions to the store, or to a journal, each with a bound. */

import type { RunSummary } from '../../engine/index.ts';
import { BrokenHistoryError, rowsOf } from '../../fleet/index.ts';
import { describeError, type ErrorInfo, FleetqError } from '../../ground/index.ts';
import { type Codec, decodeRows, type StoredRecord } from '../../journal/index.ts';
import {
  type Gate,
  type PodRow,
  type Segment,
  type StoreReader,
  SUSPECT_CRASHES,
  type TaskRow,
} from '../../store/index.ts';
import { throttleViewOf } from '../../throttle/index.ts';
import type { Shown } from '../desk/mask.ts';
import { parkedRuns } from '../desk/parked.ts';
import { jsonOf, viewOfRecord } from '../desk/views.ts';
import type { MachineInfo } from '../fleet-port.ts';
import type { Done, Facts, Stray } from './facts.ts';

const DEEDS_MAX = 100;
const STRAYS_MAX = 20;

export interface GatherOptions {
  readonly codec: Codec;
  readonly silentMs: number;
  readonly shown: Shown;
  /** Whether whoever asks may see who did what. */
  readonly mayAudit: boolean;
  readonly machines: readonly MachineInfo[];
}

type Read = Pick<Facts, 'records' | 'unread' | 'strays'>;

/** `run` is what this process's journal has of it, with its records where that is ahead of the store. */
export async function gatherTask(
  reader: StoreReader,
  row: TaskRow,
  options: GatherOptions,
  run?: { readonly summary: RunSummary; readonly records: readonly StoredRecord[] },
): Promise<Facts> {
  const now = await reader.now();
  const [pods, known] = [await reader.pods(), await reader.known()];
  const segments = await reader.histories([{ task: row.id, generation: row.generation }]);
  const read = readOf(row, segments, options.codec);
  const isAhead = (run?.records.length ?? 0) > read.records.length;
  const records = isAhead ? run!.records : read.records;
  const deeds = options.mayAudit ? await deedsOf(reader, row) : [];
  const isFree = row.status === 'pending' || row.status === 'waiting';
  const gate = isFree ? gateFor(options, await reader.gateOf(row)) : undefined;
  const ahead = isDue(row, now) ? await aheadOf(reader, row, now) : undefined;
  const apis = isDue(row, now) ? await apisOf(reader, row, pods, options.codec) : undefined;
  return masked(
    {
      id: row.id,
      now,
      row,
      failure: jsonOf(row.error),
      run: run?.summary,
      isHeld: run !== undefined,
      ...read,
      records,
      pods,
      silentMs: options.silentMs,
      known: known.map(({ route }) => route),
      ahead,
      ...apis,
      gate,
      deeds,
      attemptMax: attemptMaxOf(options.machines, row, records),
    },
    options.shown,
  );
}

/** Who paused it is for those who may see who did what. */
function gateFor({ mayAudit }: GatherOptions, gate: Gate): Gate {
  if (mayAudit) return gate;
  const { queue, pausedMachine } = gate;
  const unnamed = { pausedBy: undefined };
  return {
    ...gate,
    queue: queue && { ...queue, ...unnamed },
    pausedMachine: pausedMachine && { ...pausedMachine, ...unnamed },
  };
}

/** A run that no store knows of. */
export function factsOfRun(
  { summary, records }: { readonly summary: RunSummary; readonly records: readonly StoredRecord[] },
  {
    now,
    isHeld,
    ...options
  }: Pick<GatherOptions, 'shown' | 'machines'> & {
    readonly now: number;
    readonly isHeld: boolean;
  },
): Facts {
  return masked(
    {
      id: summary.id,
      now,
      row: undefined,
      failure: summary.error,
      run: summary,
      isHeld,
      records,
      unread: undefined,
      strays: [],
      pods: [],
      silentMs: 0,
      known: [],
      ahead: undefined,
      gate: undefined,
      deeds: [],
      attemptMax: attemptMaxOf(options.machines, summary, records),
    },
    options.shown,
  );
}

/** Damaged, sealed or of a newer FleetQ: the row tells what it can, and the records why they do not. */
function readOf(row: TaskRow, segments: readonly Segment[], codec: Codec): Read {
  try {
    if (segments.length === 0) return { records: [], unread: undefined, strays: [] };
    const records = decodeRows(row.id, rowsOf(row.id, segments, row.lastHash), codec);
    const hashes = new Set(records.map(({ hash }) => hash));
    return { records, unread: undefined, strays: straysIn(segments, hashes) };
  } catch (error) {
    if (!(error instanceof FleetqError) && !(error instanceof BrokenHistoryError)) throw error;
    const { name, message, code }: ErrorInfo = describeError(error);
    return { records: [], unread: { name, message, ...(code ? { code } : {}) }, strays: [] };
  }
}

interface Written {
  readonly seq: number;
  readonly hash: string;
  readonly state: string;
}

/** The outcome that a redrive keeps is no record. */
function straysIn(segments: readonly Segment[], hashes: ReadonlySet<string>): Stray[] {
  return segments
    .filter(({ state }) => state !== 'outcome')
    .flatMap(({ epoch, events }): Stray[] => {
      const beside = writtenIn(events).filter(({ hash }) => !hashes.has(hash));
      const [first, last] = [beside[0], beside.at(-1)];
      if (!first || !last) return [];
      const states = beside.map(({ state }) => String(state));
      return [{ epoch, firstSeq: first.seq, lastSeq: last.seq, states }];
    })
    .slice(-STRAYS_MAX);
}

function writtenIn(events: string): Written[] {
  const parsed = jsonOf(events);
  return Array.isArray(parsed) ? parsed.filter((each) => typeof each?.hash === 'string') : [];
}

async function deedsOf(reader: StoreReader, { id }: TaskRow): Promise<Done[]> {
  const { rows } = await reader.audit({ task: id, countMax: DEEDS_MAX });
  return rows.map(({ at, who, what }) => ({ at, who, what }));
}

function isDue({ status, runAt, isPaused, pinnedTo, crashes }: TaskRow, now: number): boolean {
  const isFree = status === 'pending' || status === 'waiting';
  return isFree && runAt <= now && !isPaused && pinnedTo === undefined && crashes < SUSPECT_CRASHES;
}

/** Of its route: what goes first by its priority, and what was due before it. */
async function aheadOf(
  reader: StoreReader,
  { machine, version, priority, runAt }: TaskRow,
  now: number,
): Promise<NonNullable<Facts['ahead']>> {
  const words = (field: 'machine' | 'version' | 'status', word: string) =>
    ({ kind: 'words', field, isNot: false, words: [word] }) as const;
  const route = [
    words('status', 'pending'),
    words('machine', machine),
    words('version', `${version}`),
  ];
  const number = (from: number | undefined, until: number | undefined) =>
    ({ kind: 'number', field: 'priority', isNot: false, from, until }) as const;
  const dueBefore = (at: number) =>
    ({ kind: 'time', field: 'due', isNot: false, from: undefined, until: { at } }) as const;
  const ask = (...terms: (ReturnType<typeof number> | ReturnType<typeof dueBefore>)[]) =>
    reader.count({ filter: { terms: [...route, ...terms] }, nowMs: now, countMax: AHEAD_MAX });
  const urgent = await ask(number(priority + 1, undefined), dueBefore(now + 1));
  const earlier = await ask(number(priority, priority), dueBefore(runAt));
  return {
    count: urgent.count + earlier.count,
    isExact: urgent.isExact && earlier.isExact,
  };
}

const AHEAD_MAX = 1_000;
const KIN_MAX = 20;

/** How APIs are, and which of them others of its machine wait for. */
async function apisOf(
  reader: StoreReader,
  { machine }: TaskRow,
  pods: readonly PodRow[],
  codec: Codec,
): Promise<Pick<Facts, 'throttles' | 'kin'>> {
  const rows = await reader.throttles();
  if (rows.length === 0) return {};
  const parked = await parkedRuns(reader, codec, { machine, countMax: KIN_MAX });
  const kin = [...parked.counts].sort(([, one], [, other]) => other - one).map(([api]) => api);
  return { throttles: rows.map((row) => throttleViewOf(row, pods)), kin };
}

/** Of the phase that it failed in last, or is at. */
function attemptMaxOf(
  machines: readonly MachineInfo[],
  { machine, version }: { readonly machine: string; readonly version: number },
  records: readonly StoredRecord[],
): number | undefined {
  const found = machines.find((each) => each.name === machine && each.version === version);
  const failed = records.findLastIndex(({ event }) => event.type === 'FAILED');
  const state = failed > 0 ? records[failed - 1]!.state : records.at(-1)?.state;
  return state === undefined ? undefined : found?.attemptMax?.[state];
}

/** What people may not see is no part of what is explained to them. */
function masked(facts: Facts, shown: Shown): Facts {
  const { run, records, failure } = facts;
  return {
    ...facts,
    failure: shown.error(failure),
    records: records.map((record) => viewOfRecord(record, shown) as StoredRecord),
    run: run && {
      ...run,
      reason: shown.text(run.reason),
      error: shown.error(run.error) as RunSummary['error'],
    },
  };
}
