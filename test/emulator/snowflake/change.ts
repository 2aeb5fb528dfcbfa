/** INSERT, UPDATE, DELETE, MERGE: whose lock they need, and what they answer. */
import { countsOf, type Rows } from './binds.ts';
import { SnowflakeError } from './errors.ts';
import { nameOf } from './names.ts';
import type { Asked, Session } from './session.ts';
import { indexOfWord, isWords, type Node, partsOf, type Token } from './tokens.ts';
import type { Translator } from './translate.ts';

export interface Change {
  readonly session: Session;
  readonly items: readonly Node[];
  readonly translator: Translator;
  /** The table, as schema.table. */
  readonly place: string;
  /** Who holds its locks, outside a transaction. */
  readonly asked: Asked;
}

/** How many nodes name the target: INSERT INTO a.b.c, UPDATE a, DELETE FROM a, MERGE INTO a. */
export function targetOf(items: readonly Node[]): readonly Node[] {
  const start = isWords(items, 0, 'UPDATE') ? 1 : 2;
  const name: Node[] = [items[start]!];
  for (let at = start + 1; items[at]?.upper === '.'; at += 2) name.push(items[at + 1]!);
  return name;
}

/** Runs with the lock that Snowflake would take, and answers the counts. */
export async function change(given: Change): Promise<Rows> {
  const { session, items, place, asked } = given;
  const { queryId } = asked;
  const { house } = session;
  const verb = items[0]!.upper;
  if (house.kindOf(place) === undefined) {
    const name = place.split('.').at(-1)!.toUpperCase();
    const text = `SQL compilation error:\nObject '${name}' does not exist or not authorized.`;
    throw new SnowflakeError('002003', '42S02', text);
  }
  const isLocking = house.kindOf(place) === 'standard' && verb !== 'INSERT';
  const lost = verb === 'UPDATE' && house.chaos.lostUpdates?.test(asked.sql) === true;
  const holder = session.transaction ?? asked;
  const apply = lost ? await chooseBefore(given) : () => runChange(given);
  if (isLocking) {
    if (house.chaos.strikes(house.chaos.waiterStorm)) {
      throw waiterStorm(place, house.locks.waitersMax, queryId);
    }
    await house.locks.take(place, holder, Number(session.parameter('LOCK_TIMEOUT')), queryId);
  }
  try {
    const rows = await apply();
    const changed = rows.rowset[0]!.some((count) => Number(count) > 0);
    if (changed) {
      if (session.transaction === undefined) session.wrote([place]);
      else session.transaction.wrote.add(place);
    }
    return rows;
  } finally {
    if (session.transaction === undefined) house.locks.release(holder);
  }
}

function waiterStorm(place: string, limit: number, queryId: string): SnowflakeError {
  return new SnowflakeError(
    '000625',
    '57014',
    `Statement '${queryId}' was aborted because the number of waiters for the lock of table ` +
      `'${place.toUpperCase()}' exceeds the ${limit} statements limit.`,
  );
}

async function runChange(given: Change): Promise<Rows> {
  const { session, items, translator } = given;
  switch (items[0]!.upper) {
    case 'INSERT':
      return countsOf({
        'number of rows inserted': await count(session, translator.translate(items)),
      });
    case 'DELETE':
      return countsOf({
        'number of rows deleted': await count(session, translator.translate(items)),
      });
    case 'MERGE':
      return merge(given);
    default:
      return countsOf({
        'number of rows updated': await count(session, updateText(given)),
        'number of multi-joined rows updated': 0,
      });
  }
}

async function count(session: Session, text: string): Promise<number> {
  return (await session.query(text)).rowCount ?? 0;
}

interface UpdateParts {
  /** The table, with its alias. */
  readonly target: string;
  /** What the row is called by. */
  readonly called: string;
  readonly set: readonly (readonly Node[])[];
  readonly from: string;
  readonly where: string;
}

/** UPDATE target SET … [FROM …] [WHERE …] */
function updateParts({ items, translator }: Change): UpdateParts {
  const set = indexOfWord(items, 'SET');
  const where = indexOfWord(items, 'WHERE', set);
  const conditionAt = where < 0 ? items.length : where;
  const from = indexOfWord(items, 'FROM', set);
  const fromAt = from < 0 || from > conditionAt ? conditionAt : from;
  return {
    target: translator.translate(items.slice(1, set)),
    called: nameOf(items[set - 1] as Token),
    set: partsOf(items.slice(set + 1, fromAt)),
    from: translator.translate(items.slice(fromAt + 1, conditionAt)),
    where: where < 0 ? 'true' : translator.translate(items.slice(where + 1)),
  };
}

/** Where it joins one row with two, it is refused if the session wants that. */
function updateText(given: Change): string {
  const update = given.translator.translate(given.items);
  const { target, called, from, where } = updateParts(given);
  if (from === '' || !given.session.isOn('ERROR_ON_NONDETERMINISTIC_UPDATE')) return update;
  const doubles = `select 1 from ${target}, ${from} where ${where} group by ${called}.ctid
    having count(*) > 1 limit 1`;
  return `select snow.refuse_doubles() where exists (${doubles}); ${update}`;
}

let tables = 0;

/**
 * The rows, and what becomes of them, are chosen now; whoever writes them meanwhile is overwritten.
 * The time between is that of one more statement.
 */
async function chooseBefore(given: Change): Promise<() => Promise<Rows>> {
  const { session, translator, place } = given;
  const { target, called, set, from, where } = updateParts(given);
  const key = session.house.keyOf(place);
  if (key.length === 0) throw new Error(`${place} has no key to find its rows by`);
  const table = `pg_temp.snow_chosen_${++tables}`;
  const values = set.map((part, i) => `${translator.translate(part.slice(2))} as v${i}`);
  const keys = key.map((column, i) => `${called}.${column} as k${i}`);
  const source = from === '' ? target : `${target}, ${from}`;
  await session.query(
    `create temp table ${table.slice('pg_temp.'.length)} as
       select ${[...keys, ...values].join(', ')} from ${source} where ${where}`,
  );
  await session.house.chaos.delay();
  return async () => {
    const assigned = set.map((part, i) => `${nameOf(part[0] as Token)} = chosen.v${i}`);
    const matched = key.map((column, i) => `${called}.${column} = chosen.k${i}`).join(' and ');
    const updated = await count(
      session,
      `update ${target} set ${assigned.join(', ')} from ${table} as chosen where ${matched}`,
    );
    await session.query(`drop table ${table}`);
    return countsOf({
      'number of rows updated': updated,
      'number of multi-joined rows updated': 0,
    });
  };
}

/** MERGE tells what it did only if it is asked for each row. */
async function merge({ session, items, translator }: Change): Promise<Rows> {
  const text = translator.translate(unqualifiedSets(items));
  const { rows } = await session.query(
    `with snow_merged as (${text} returning merge_action() as action)
     select count(*) filter (where action = 'INSERT'), count(*) filter (where action = 'UPDATE'),
            count(*) filter (where action = 'DELETE') from snow_merged`,
  );
  const [inserted, updated, deleted] = (rows as unknown as string[][])[0]!.map(Number);
  const does = (verb: string) => items.some((_, at) => isWords(items, at, 'THEN', verb));
  return countsOf({
    ...(does('INSERT') && { 'number of rows inserted': inserted! }),
    ...(does('UPDATE') && { 'number of rows updated': updated! }),
    ...(does('DELETE') && { 'number of rows deleted': deleted! }),
  });
}

/** THEN UPDATE SET t.a = s.a: Snowflake takes it in MERGE, Postgres wants `a` alone. */
function unqualifiedSets(items: readonly Node[]): Node[] {
  const out: Node[] = [];
  let isSetting = false;
  for (let at = 0; at < items.length; at += 1) {
    const item = items[at]!;
    if (isWords(items, at, 'SET')) isSetting = true;
    if (isWords(items, at, 'WHEN')) isSetting = false;
    const before = items[at - 1]?.upper;
    const isTarget = isSetting && (before === 'SET' || before === ',');
    if (isTarget && items[at + 1]?.upper === '.' && items[at + 3]?.upper === '=') at += 1;
    else out.push(item);
  }
  return out;
}
