/** Reads rows onto a desk: by their keys, in lists of binds of few lengths, so that texts are few. */

import type { NewTask } from '../tasks.ts';
import {
  AUDIT_LOG,
  FLEET_FACT,
  POD_HEALTH,
  RUN_EVENTS,
  STEP_TRACKER,
  type Table,
} from './columns.ts';
import type { Desk } from './desk.ts';
import type { Bind } from './executor.ts';
import type { FactKind } from './facts.ts';
import type { Run } from './sessions.ts';
import { LIST_MAX, marks, padded, rungOf, selectFrom, selectNow, selectOrNow } from './sql.ts';

/** What a call reads with. */
export interface Reading {
  readonly run: Run;
  readonly desk: Desk;
}

const selects = new Map<string, string>();

/** Made once: texts of one meaning are one text. */
function kept(name: string, make: () => string): string {
  const there = selects.get(name);
  if (there !== undefined) return there;
  const text = make();
  selects.set(name, text);
  return text;
}

export async function gather(
  { run, desk }: Reading,
  table: Table,
  text: string,
  binds: readonly Bind[],
): Promise<number> {
  const { rows } = await run(text, binds);
  desk.put(table, rows);
  return rows.length;
}

/** Rows whose column is one of these values. */
async function gatherBy(
  reading: Reading,
  table: Table,
  column: string,
  values: readonly string[],
  isLight = false,
): Promise<void> {
  const wanted = [...new Set(values)].sort();
  for (let from = 0; from < wanted.length; from += LIST_MAX) {
    const list = padded(wanted.slice(from, from + LIST_MAX));
    const rung = rungOf(list.length);
    const text = kept(`${table.name} ${column} ${rung} ${isLight}`, () => {
      return `${selectFrom(table, { isLight })} where t.${column} in (${marks(rung)})`;
    });
    await gather(reading, table, text, list);
  }
}

export function gatherTasks(reading: Reading, ids: readonly string[], isLight = false) {
  return gatherBy(reading, STEP_TRACKER, 'task_id', ids, isLight);
}

export function gatherPods(reading: Reading, pods: readonly string[]): Promise<void> {
  return gatherBy(reading, POD_HEALTH, 'pod_id', pods);
}

/** Of each task all its segments; without their records, where only their ends matter. */
export function gatherHistory(reading: Reading, tasks: readonly string[], isLight = false) {
  return gatherBy(reading, RUN_EVENTS, 'task_id', tasks, isLight);
}

export function gatherAudits(reading: Reading, requestIds: readonly string[]): Promise<void> {
  return gatherBy(reading, AUDIT_LOG, 'request_id', requestIds);
}

export function gatherFacts(reading: Reading, ...kinds: readonly FactKind[]): Promise<void> {
  return gatherBy(reading, FLEET_FACT, 'kind', kinds);
}

/** ? kind, ? id. */
const selectFact = `${selectFrom(FLEET_FACT)} where t.kind = ? and t.fact_id = ?`;

export function gatherFact(reading: Reading, kind: FactKind, id: string): Promise<number> {
  return gather(reading, FLEET_FACT, selectFact, [kind, id]);
}

const selectPods = selectFrom(POD_HEALTH);
const selectPodsLeft = `${selectFrom(POD_HEALTH)} where t.status <> 'down'`;

/** All of them, or all that are not down. */
export function gatherFleet(reading: Reading, isWithDown = false): Promise<number> {
  return gather(reading, POD_HEALTH, isWithDown ? selectPods : selectPodsLeft, []);
}

/** ? ids, ? keys with their machines; with the time, whatever is found. */
function selectTwins(rung: number, hasKeys: boolean): string {
  return kept(`twins ${rung} ${hasKeys}`, () => {
    const ids = `t.task_id in (${marks(rung)})`;
    const keys = `t.machine || '\n' || t.task_key in (${marks(rung)})`;
    return selectOrNow(STEP_TRACKER, hasKeys ? `${ids} or ${keys}` : ids);
  });
}

/** Tasks that have one of these ids or keys. */
export async function gatherTwins(
  reading: Reading,
  tasks: readonly Pick<NewTask, 'id' | 'machine' | 'key'>[],
): Promise<void> {
  for (let from = 0; from < tasks.length; from += LIST_MAX) {
    const some = tasks.slice(from, from + LIST_MAX);
    const ids = padded(some.map(({ id }) => id));
    // One that has no key asks for a key that nobody has.
    const keys = some.map(({ machine, key }) => (key === undefined ? '' : `${machine}\n${key}`));
    const hasKeys = keys.some((key) => key !== '');
    const binds = hasKeys ? [...ids, ...padded(keys)] : ids;
    await gather(reading, STEP_TRACKER, selectTwins(ids.length, hasKeys), binds);
  }
}

const selectHeldBy = `${selectFrom(STEP_TRACKER)} where t.claimed_by = ?`;
/** ? pod, ? id: the next of them in the order of ids. */
export const heldAfter = (limit: number) =>
  `${selectHeldBy} and t.task_id > ? order by t.task_id limit ${limit}`;

/** The account's clock, where no row has told it. */
export async function gatherNow({ run, desk }: Reading): Promise<void> {
  if (desk.hasNow) return;
  const { rows } = await run(selectNow);
  desk.put(STEP_TRACKER, rows);
}
