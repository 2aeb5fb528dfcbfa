/**
 * All orders in which the statements of two pods may be carried out, down to a depth: every state that
 * can be reached is visited once, and every step out of it is held against the rules.
 */
import type { Mutant } from '../simulate/mutants.ts';
import {
  type Action,
  actionsOf,
  copyOf,
  firstState,
  SILENT_MS,
  type State,
  sendOf,
} from './pair-model.ts';
import { brokenBy } from './pair-rules.ts';

export interface SearchOptions {
  readonly tasks: number;
  readonly depth: number;
  readonly mutant?: Mutant | undefined;
}

export interface SearchReport {
  readonly tasks: number;
  readonly depth: number;
  readonly states: number;
  readonly steps: number;
  /** The first that was found, with the shortest way to it. */
  readonly violation: { readonly broken: string; readonly path: readonly string[] } | undefined;
}

interface Node {
  readonly state: State;
  readonly name: string;
  readonly parent: Node | undefined;
}

export function searchInterleavings({ tasks, depth, mutant }: SearchOptions): SearchReport {
  let front: Node[] = [{ state: firstState(tasks), name: '', parent: undefined }];
  const seen = new Set([keyOf(front[0]!.state)]);
  let steps = 0;
  const report = (violation: SearchReport['violation']) => ({
    tasks,
    depth,
    states: seen.size,
    steps,
    violation,
  });
  for (let level = 0; level < depth; level++) {
    const next: Node[] = [];
    for (const node of front) {
      for (const action of actionsOf(node.state)) {
        steps += 1;
        const after = stepped(node.state, action, mutant);
        const found: Node = { state: after, name: action.name, parent: node };
        const [broken] = brokenBy(node.state, action, after);
        if (broken) return report({ broken, path: pathTo(found) });
        const key = keyOf(after);
        if (seen.has(key)) continue;
        seen.add(key);
        next.push(found);
      }
    }
    front = next;
  }
  return report(undefined);
}

function stepped(state: State, action: Action, mutant: Mutant | undefined): State {
  const isTime = action.verb === 'time';
  const copy = copyOf(state, isTime ? state.nowMs + SILENT_MS + 1 : state.nowMs);
  if (isTime) return copy;
  const known = action.act(copy, sendOf(copy.tables, mutant));
  const pods = copy.pods.map((pod, index) => (index === action.by ? { ...pod, ...known } : pod));
  const owners = new Map(copy.owners);
  for (const { taskId, claimEpoch, claimedBy } of copy.tables.tasks.values()) {
    if (claimedBy !== undefined) owners.set(`${taskId} ${claimEpoch}`, claimedBy);
  }
  return { ...copy, pods, owners };
}

function pathTo(node: Node): string[] {
  const path: string[] = [];
  for (let at: Node | undefined = node; at?.parent; at = at.parent) path.unshift(at.name);
  return path;
}

/** Two states with one key are the same to everybody: of times only who is silent matters. */
function keyOf({ tables, nowMs, pods, owners }: State): string {
  const rows = [...tables.pods.values()].map(({ podId, status, beatSeq, lastHeartbeat }) => [
    podId,
    status,
    beatSeq,
    lastHeartbeat < nowMs - SILENT_MS,
  ]);
  const tasks = [...tables.tasks.values()].map((task) => [
    task.taskId,
    task.status,
    task.claimedBy,
    task.claimEpoch,
    task.lastHash,
    task.claims,
    task.interrupted,
    task.cutEpoch,
  ]);
  const events = [...tables.events.values()].map(({ task, epoch, lastHash }) => [
    task,
    epoch,
    lastHash,
  ]);
  return JSON.stringify([rows, tasks, events.sort(), pods, [...owners].sort()]);
}
