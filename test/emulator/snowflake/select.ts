/** SELECT … FOR UPDATE: of hybrid tables, in a transaction, alone; refused otherwise. */
import { type Rows, rowsOf } from './binds.ts';
import { SnowflakeError } from './errors.ts';
import { nameOf } from './names.ts';
import type { Session } from './session.ts';
import { indexOfWord, isWords, type Node, type Token, walk } from './tokens.ts';
import type { Translator } from './translate.ts';

const FORBIDDEN = new Set(['JOIN', 'UNION', 'EXCEPT', 'INTERSECT', 'DISTINCT', 'GROUP', 'HAVING']);

export async function readLocking(
  session: Session,
  items: readonly Node[],
  at: number,
  translator: Translator,
): Promise<Rows> {
  const refused = (why: string) => SnowflakeError.unsupported(`SELECT FOR UPDATE ${why}`);
  const query = items.slice(0, at);
  if (session.transaction === undefined) throw refused('with autocommit');
  if (query.some((item) => FORBIDDEN.has(item.upper))) throw refused('of more than plain rows');
  if ([...walk(query)].filter(([list, i]) => isWords(list, i, 'SELECT')).length > 1) {
    throw refused('with a subquery');
  }
  const from = indexOfWord(query, 'FROM');
  const table = nameOf(query[from + 1] as Token);
  if (session.house.kindOf(`${session.schema}.${table}`) !== 'hybrid') {
    throw refused('of a standard table');
  }
  const wait = items[at + 2];
  if (wait !== undefined && wait.upper !== 'NOWAIT' && wait.upper !== 'WAIT') {
    throw SnowflakeError.invalid(`unexpected '${wait.upper}': FOR UPDATE is the last clause`);
  }
  const text = translator.translate(query);
  if (wait?.upper !== 'WAIT') return rowsOf(await session.query(`${text} for update nowait`));
  const ms = Number((items[at + 3] as Token).text) * 1000;
  return rowsOf(
    await session.query(`set local lock_timeout = ${Math.max(1, ms)}; ${text} for update`),
  );
}
