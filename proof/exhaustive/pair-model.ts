/**
 * Two pods and a few tasks over the tables in memory, one statement at a time: everything a pod may send
 * next, by what it knows, which may be long out of date. Nobody has to answer for being slow here: a
 * pod that was fenced goes on until it hears of it.
 */
import { rowsOf } from '../../src/fleet/index.ts';
import { hash, type RunId } from '../../src/ground/index.ts';
import type { EventRow } from '../../src/journal/index.ts';
import { archive } from '../../src/store/memory/archive.ts';
import { claim, enqueue } from '../../src/store/memory/claims.ts';
import { beat, fence, register, retire } from '../../src/store/memory/pods.ts';
import { settle } from '../../src/store/memory/settle.ts';
import { MemoryTables } from '../../src/store/memory/tables.ts';
import { take } from '../../src/store/memory/take.ts';
import type { Store } from '../../src/store/store.ts';
import type { ClaimedTask, Segment, Settlement } from '../../src/store/tasks.ts';
import type { Claim, PodId } from '../../src/store/words.ts';
import * as make from '../../test/store/factories.ts';
import type { Mutant } from '../simulate/mutants.ts';

export const SILENT_MS = 1_000;
const NAMES = ['alder', 'birch'] as const;

/** A task as one pod knows it: the claim, and the records it has written of it. */
export interface Hold extends Claim {
  /** What was on record when it was claimed, and then what it wrote itself. */
  readonly baseSeq: number;
  readonly baseHash: string;
  readonly seq: number;
  readonly hash: string;
}

export interface PodState {
  readonly id: PodId;
  readonly beatSeq: number;
  /** It has heard that it is dead, and sends nothing more. */
  readonly knows: boolean;
  readonly holds: readonly Hold[];
}

export interface State {
  readonly tables: MemoryTables;
  readonly nowMs: number;
  readonly pods: readonly PodState[];
  /** By task and epoch: whose it was. */
  readonly owners: ReadonlyMap<string, string>;
}

export interface Action {
  readonly name: string;
  readonly by: number;
  readonly verb: keyof Store | 'time';
  /** Carries it out on a state of its own, and answers what the pod knows then. */
  readonly act: (state: State, send: Send) => Partial<PodState>;
}

export type Send = <A>(verb: keyof Store, given: readonly unknown[], act: () => A) => A;

export function sendOf(tables: MemoryTables, mutant: Mutant | undefined): Send {
  const change = mutant?.changeCall;
  return (verb, given, act) => (change ? change(tables, verb, given, act) : act());
}

function tablesAt(nowMs: number): MemoryTables {
  const clock = { now: () => nowMs, monotonicMs: () => nowMs, after: () => () => undefined };
  const random = { fraction: () => 0, hex: () => '' };
  return new MemoryTables({ clock: { ...clock, soon: () => undefined }, random });
}

export function firstState(taskCount: number): State {
  const nowMs = 1_000_000;
  const tables = tablesAt(nowMs);
  const tasks = Array.from({ length: taskCount }, (_, index) =>
    make.newTask({ id: `task-${index}` as RunId, keyMs: 0 }),
  );
  enqueue(tables, tasks);
  const pods = NAMES.map((name) => {
    register(tables, make.birthOf(name));
    return { id: make.podOf(name), beatSeq: 0, knows: false, holds: [] };
  });
  return { tables, nowMs, pods, owners: new Map() };
}

/** The same state, to be changed without changing this one. */
export function copyOf(state: State, nowMs = state.nowMs): State {
  const tables = tablesAt(nowMs);
  for (const [id, pod] of state.tables.pods) tables.pods.set(id, { ...pod });
  for (const [id, task] of state.tables.tasks) tables.tasks.set(id, { ...task });
  for (const [key, segment] of state.tables.events) tables.events.set(key, segment);
  return { ...state, tables, nowMs, owners: new Map(state.owners) };
}

export function acceptedRows(tables: MemoryTables, task: RunId): EventRow[] {
  return rowsOf(
    task,
    [...tables.events.values()].filter((segment) => segment.task === task),
    tables.tasks.get(task)?.lastHash,
  );
}

const hashes = new Map<string, string>();

/** There are few records, and each is asked for often. */
function hashOf(text: string): string {
  const known = hashes.get(text) ?? hash(text);
  hashes.set(text, known);
  return known;
}

/** One more record, in the chain behind what there is. */
function written(hold: Hold): { readonly hold: Hold; readonly segment: Segment } {
  const { task, generation, epoch, hash: prevHash } = hold;
  const seq = hold.seq + 1;
  const state = 'main.work';
  const own = hashOf(`${prevHash} ${task} ${seq} ${epoch}`);
  const data = { type: 'DONE' };
  const events = JSON.stringify([{ seq, at: 0, epoch, event: 'DONE', state, hash: own, data }]);
  const claimed = { task, generation, epoch };
  const ends = { firstSeq: seq, lastSeq: seq, prevHash, lastHash: own };
  return { hold: { ...hold, seq, hash: own }, segment: { ...claimed, ...ends, state, events } };
}

function holdOf(tables: MemoryTables, { task, generation, epoch }: ClaimedTask): Hold {
  const last = acceptedRows(tables, task).at(-1);
  const [seq, own] = [last?.seq ?? -1, last?.hash ?? ''];
  return { task, generation, epoch, baseSeq: seq, baseHash: own, seq, hash: own };
}

/** Everything that may be carried out next. */
export function actionsOf({ pods }: State): Action[] {
  const time: Action = { name: 'time passes', by: 0, verb: 'time', act: () => ({}) };
  return [time, ...pods.flatMap((pod, index) => (pod.knows ? [] : ofPod(pod, index, pods)))];
}

function ofPod(pod: PodState, by: number, pods: readonly PodState[]): Action[] {
  const { id } = pod;
  const other = pods[1 - by]!.id;
  const action = (verb: keyof Store, what: string, act: Action['act']): Action => ({
    name: `${id} ${verb}${what}`,
    by,
    verb,
    act,
  });
  const claiming = (isHeard: boolean): Action['act'] => {
    const request = make.claimRequest(id, { countMax: 1 });
    return ({ tables }, send) => {
      const claimed = send('claim', [request], () => claim(tables, request));
      if (!isHeard) return {};
      return { holds: [...pod.holds, ...claimed.map((task) => holdOf(tables, task))] };
    };
  };
  const taking = { from: other, by: id, to: 'pool', countMax: 1, crashed: 'none' } as const;
  const whole = { ...taking, spreadMs: 0 };
  const because = { silentMs: SILENT_MS };
  return [
    action('beat', '', ({ tables }, send) => {
      const given = { pod: id, seq: pod.beatSeq, nonce: 'n', lsn: 0, report: {} };
      const answer = send('beat', [given], () => beat(tables, given));
      return answer.kind === 'taken' ? { beatSeq: answer.seq } : { knows: true };
    }),
    action('claim', '', claiming(true)),
    action('claim', ', answer lost', claiming(false)),
    action('fence', ` ${other}`, ({ tables }, send) => {
      send('fence', [other, id, because], () => fence(tables, other, id, because));
      return {};
    }),
    action('take', ` from ${other}`, ({ tables }, send) => {
      send('take', [whole], () => take(tables, whole));
      return {};
    }),
    action('retire', ` ${other}`, ({ tables }, send) => {
      send('retire', [other], () => retire(tables, other));
      return {};
    }),
    ...pod.holds.flatMap((hold) => ofHold(pod, hold, action)),
  ];
}

function ofHold(
  pod: PodState,
  hold: Hold,
  action: (verb: keyof Store, what: string, act: Action['act']) => Action,
): Action[] {
  const others = pod.holds.filter((one) => one !== hold);
  const next = written(hold);
  const name = `${hold.task} e${hold.epoch}`;
  const tail = { tail: next.segment };
  const settling = (settlement: Settlement, isHeard: boolean): Action['act'] => {
    return ({ tables }, send) => {
      // A copy: what is sent belongs to whoever carries it out.
      const given = [{ ...settlement }];
      send('settle', [pod.id, given], () => settle(tables, pod.id, given));
      return isHeard ? { holds: others } : {};
    };
  };
  return [
    action('archive', ` ${name}`, ({ tables }, send) => {
      const given = [{ ...next.segment }];
      send('archive', [given], () => archive(tables, given));
      return { holds: [...others, next.hold] };
    }),
    action('settle', ` ${name} as completed`, settling(make.completed(hold, tail), true)),
    action('settle', ` ${name}, answer lost`, settling(make.completed(hold, tail), false)),
    action('settle', ` ${name} as released`, settling(make.released(hold, tail), true)),
    action('settle', ` ${name} as parked`, settling(make.parked(hold, 'sleep', 0, tail), true)),
  ];
}
