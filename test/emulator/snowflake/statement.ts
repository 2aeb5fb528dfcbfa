/** Carries out one statement of a session, whatever it is. */
import { bindRows, countsOf, type Rows, rowsOf, saysOf } from './binds.ts';
import { change, targetOf } from './change.ts';
import { type DdlSetting, ddlOf } from './ddl.ts';
import { asSnowflakeError, SnowflakeError } from './errors.ts';
import { literal, nameOf } from './names.ts';
import { refuse } from './refusals.ts';
import { readLocking } from './select.ts';
import type { Asked, Outcome, Session } from './session.ts';
import { show } from './show.ts';
import { isWords, type Node, type Token, tokensOf, treeOf } from './tokens.ts';
import { Translator } from './translate.ts';

/** What the driver takes a statement for. */
const TYPE_IDS: Readonly<Record<string, number>> = {
  ...{
    SELECT: 0x1000,
    WITH: 0x1000,
    INSERT: 0x3100,
    UPDATE: 0x3200,
    DELETE: 0x3300,
    MERGE: 0x3400,
  },
  ...{ BEGIN: 0x5000, START: 0x5000, COMMIT: 0x5000, ROLLBACK: 0x5000, SHOW: 0x4000, DESC: 0x4000 },
  ...{
    DESCRIBE: 0x4000,
    USE: 0x4000,
    TRUNCATE: 0x6000,
    CREATE: 0x6000,
    ALTER: 0x6000,
    DROP: 0x6000,
  },
};

export function verbOf(sql: string): string {
  return tokensOf(sql).find((token) => token.upper !== '(')?.upper ?? '';
}

/** Without a table it is answered by the cloud services, as is everything about the session. */
export function needsWarehouse(sql: string): boolean {
  const words = new Set(tokensOf(sql).map((token) => token.upper));
  const verb = verbOf(sql);
  if (['INSERT', 'UPDATE', 'DELETE', 'MERGE'].includes(verb)) return true;
  return (verb === 'SELECT' || verb === 'WITH') && words.has('FROM');
}

export async function carryOut(session: Session, asked: Asked): Promise<Outcome> {
  refuse(asked.sql);
  if (session.house.chaos.forbidden?.test(asked.sql)) {
    const text = 'SQL access control error:\nInsufficient privileges to operate on database';
    throw new SnowflakeError('003001', '42501', text);
  }
  const tokens = tokensOf(asked.sql);
  const tree = treeOf(asked.sql);
  if (tree.length === 0) throw new SnowflakeError('000900', '42601', 'Empty SQL statement.');
  const binds = bindRows(asked.bindings, tokens.filter((token) => token.kind === 'bind').length);
  const typeId = TYPE_IDS[verbOf(asked.sql)] ?? 0x6000;
  if (session.transaction !== undefined)
    return { rows: await inside(session, tree, binds, asked), typeId };
  if (binds.length > 1) return { rows: await manyRows(session, tree, binds, asked), typeId };
  return { rows: await one(session, tree, binds[0]!, asked), typeId };
}

type BindOf = (index: number) => string;

/** A statement that fails leaves its transaction standing, unless the session wants it aborted. */
async function inside(
  session: Session,
  tree: readonly Node[],
  binds: readonly BindOf[],
  asked: Asked,
): Promise<Rows> {
  const verb = tree[0]!.upper;
  session.transaction!.lastUsedMs = performance.now();
  if (verb === 'COMMIT' || verb === 'ROLLBACK') return one(session, tree, binds[0]!, asked);
  await session.query('savepoint snow_statement');
  try {
    return await manyRows(session, tree, binds, asked);
  } catch (error) {
    if (session.isOn('TRANSACTION_ABORT_ON_ERROR')) await session.end('rollback');
    else if (session.transaction) await session.query('rollback to savepoint snow_statement');
    throw asSnowflakeError(error);
  }
}

/** Arrays of binds: the statement once for each row, and their counts added up. */
async function manyRows(
  session: Session,
  tree: readonly Node[],
  binds: readonly BindOf[],
  asked: Asked,
): Promise<Rows> {
  if (binds.length === 1) return one(session, tree, binds[0]!, asked);
  if (tree[0]!.upper !== 'INSERT' || !tree.some((item) => item.upper === 'VALUES')) {
    throw SnowflakeError.unsupported('array bind in anything but INSERT … VALUES');
  }
  const isOwn = session.transaction === undefined;
  if (isOwn) await session.begin();
  try {
    for (const bind of binds) await one(session, tree, bind, asked);
    if (isOwn) await session.end('commit');
    return countsOf({ 'number of rows inserted': binds.length });
  } catch (error) {
    if (isOwn) await session.end('rollback');
    throw error;
  }
}

/** `T`, `S.T` or `D.S.T` as Postgres knows it. */
export function placeOf(session: Session, name: readonly Node[]): string {
  const parts = name.map((part) => nameOf(part as Token));
  return parts.length === 1 ? `${session.schema}.${parts[0]}` : parts.slice(-2).join('.');
}

function translatorFor(session: Session, tree: readonly Node[], bind: BindOf, queryId: string) {
  const schema = session.schema.toUpperCase();
  return new Translator(
    {
      bind,
      database: session.database,
      lastChangeOf: (table) => {
        const name = treeOf(table).filter((item) => item.upper !== '.');
        return literal(session.house.lastChangeOf(placeOf(session, name)));
      },
      context: {
        ...{ CURRENT_USER: session.user, CURRENT_ROLE: session.role, CURRENT_SCHEMA: schema },
        ...{ CURRENT_WAREHOUSE: session.warehouse, CURRENT_DATABASE: session.database },
        ...{ CURRENT_ACCOUNT: 'EMULATOR', CURRENT_REGION: 'EMULATED', CURRENT_VERSION: '9.99.0' },
        ...{ CURRENT_SESSION: String(session.id), LAST_QUERY_ID: queryId },
      },
    },
    tree,
  );
}

async function one(
  session: Session,
  tree: readonly Node[],
  bind: BindOf,
  asked: Asked,
): Promise<Rows> {
  const { sql, queryId } = asked;
  const translator = translatorFor(session, tree, bind, queryId);
  switch (tree[0]!.upper) {
    case 'SELECT':
    case 'WITH':
    case '()':
      return read(session, tree, translator, sql);
    case 'INSERT':
    case 'UPDATE':
    case 'DELETE':
    case 'MERGE': {
      const place = placeOf(session, targetOf(tree));
      return change({ session, items: tree, translator, place, asked });
    }
    case 'BEGIN':
    case 'START':
      await session.begin();
      return saysOf('Statement executed successfully.');
    case 'COMMIT':
    case 'ROLLBACK':
      await session.end(tree[0]!.upper === 'COMMIT' ? 'commit' : 'rollback');
      return saysOf('Statement executed successfully.');
    case 'USE':
      return use(session, tree);
    case 'SHOW':
    case 'DESC':
    case 'DESCRIBE':
      return show(session, tree);
    case 'TRUNCATE':
      return truncate(session, tree);
    case 'ALTER':
      if (isWords(tree, 0, 'ALTER', 'SESSION')) return alterSession(session, tree);
      return define(session, tree, translator);
    default:
      return define(session, tree, translator);
  }
}

async function read(
  session: Session,
  tree: readonly Node[],
  translator: Translator,
  sql: string,
): Promise<Rows> {
  const lock = tree.findIndex((_, at) => isWords(tree, at, 'FOR', 'UPDATE'));
  if (lock >= 0) return readLocking(session, tree, lock, translator);
  const text = translator.translate(tree);
  const { chaos, snapshots } = session.house;
  const wantsLatest = session.isOn('READ_LATEST_WRITES') && !touchesStandard(session, sql);
  if (chaos.staleReadsMs === undefined || session.transaction !== undefined || wantsLatest) {
    return rowsOf(await session.query(text));
  }
  return snapshots.with(chaos.staleReadsMs, session.wroteAtMs, async (snapshot) => {
    if (snapshot === undefined) return rowsOf(await session.query(text));
    await session.query(
      `begin isolation level repeatable read; set transaction snapshot '${snapshot}'`,
    );
    try {
      return rowsOf(await session.query(text));
    } catch (error) {
      session.unsettle();
      throw error;
    } finally {
      await session.query('commit');
    }
  });
}

/** READ_LATEST_WRITES is a parameter of hybrid tables alone. */
function touchesStandard(session: Session, sql: string): boolean {
  const words = new Set(tokensOf(sql).map(({ upper }) => upper.toLowerCase()));
  return session.house.tables.some(
    ({ place, kind }) => kind === 'standard' && words.has(place.split('.').at(-1)!),
  );
}

function use(session: Session, tree: readonly Node[]): Rows {
  const what = tree[1]!.upper;
  const name = tree.at(-1) as Token;
  if (what === 'SCHEMA') session.schema = nameOf(name);
  else if (what === 'WAREHOUSE') session.warehouse = name.text.toUpperCase();
  else if (what === 'ROLE') session.role = name.text.toUpperCase();
  else session.database = name.text.toUpperCase();
  return saysOf('Statement executed successfully.');
}

/** ALTER SESSION SET A = 1, B = 'x'; commas may be left out. */
function alterSession(session: Session, tree: readonly Node[]): Rows {
  const isUnset = tree[2]!.upper === 'UNSET';
  for (const [at, item] of tree.entries()) {
    if (isUnset && at > 2 && item.kind === 'word') session.set(item.upper, undefined);
    else if (item.upper === '=') session.set(tree[at - 1]!.upper, (tree[at + 1] as Token).text);
  }
  return saysOf('Statement executed successfully.');
}

async function truncate(session: Session, tree: readonly Node[]): Promise<Rows> {
  const name = tree.slice(1).filter((item) => !['TABLE', 'IF', 'EXISTS', '.'].includes(item.upper));
  const place = placeOf(session, name);
  await session.query(`delete from ${place}`);
  session.wrote([place]);
  return saysOf('Statement executed successfully.');
}

/** DDL commits an open transaction and stands for itself; of two at once, one waits. */
function define(session: Session, tree: readonly Node[], translator: Translator): Promise<Rows> {
  return session.house.defining(() => defineAlone(session, tree, translator));
}

async function defineAlone(
  session: Session,
  tree: readonly Node[],
  translator: Translator,
): Promise<Rows> {
  const { house } = session;
  const setting: DdlSetting = {
    translator,
    hybridAllowed: house.hybridAllowed,
    placeOf: (name) => placeOf(session, name),
    kindOf: (place) => house.kindOf(place),
  };
  const ddl = ddlOf(tree, setting);
  await session.end('commit');
  const { makes, drops, dropsSchema } = ddl;
  const noted =
    makes === undefined
      ? []
      : [
          `insert into snow.tables values (${literal(makes.place)}, '${makes.kind}',
            array[${makes.keyColumns.map(literal).join(', ')}]::text[])
           on conflict (place) do update set kind = excluded.kind, key_columns = excluded.key_columns`,
        ];
  if (drops !== undefined) noted.push(`delete from snow.tables where place = ${literal(drops)}`);
  const statements = [...ddl.statements, ...noted];
  if (statements.length > 0) await session.query(statements.join('; '));
  if (makes !== undefined) house.made(makes);
  if (drops !== undefined) house.dropped(drops);
  if (dropsSchema !== undefined) house.droppedSchema(dropsSchema);
  return saysOf(ddl.says);
}
