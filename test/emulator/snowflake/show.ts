/** SHOW and DESCRIBE: what a store looks at to see where it is. */
import { columnOf, type Rows } from './binds.ts';
import { SnowflakeError } from './errors.ts';
import { nameOf, swapCase } from './names.ts';
import type { Session } from './session.ts';
import type { Node, Token } from './tokens.ts';

function table(names: readonly string[], rows: readonly (readonly (string | null)[])[]): Rows {
  return { rowtype: names.map((name) => columnOf(name, 'text')), rowset: rows };
}

/** LIKE 'x%', without regard to case. */
function patternOf(tree: readonly Node[]): RegExp {
  const like = tree.findIndex((item) => item.upper === 'LIKE');
  if (like < 0) return /^/;
  const text = (tree[like + 1] as Token).text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${text.replaceAll('%', '.*').replaceAll('_', '.')}$`, 'i');
}

export async function show(session: Session, tree: readonly Node[]): Promise<Rows> {
  const pattern = patternOf(tree);
  const what = tree.slice(1).find((item) => !['HYBRID', 'TERSE', 'TABLE'].includes(item.upper));
  if (tree[0]!.upper !== 'SHOW') return describe(session, tree);
  switch (what?.upper) {
    case 'PARAMETERS': {
      const rows = session.parameters.filter(([name]) => pattern.test(name));
      return table(
        ['key', 'value', 'default', 'level'],
        rows.map(([name, value, usual]) => [name, value, usual, value === usual ? '' : 'SESSION']),
      );
    }
    case 'TABLES': {
      const onlyHybrid = tree[1]!.upper === 'HYBRID';
      const rows = session.house.tables
        .map(({ place, kind }) => ({ kind, parts: place.split('.').map(swapCase) }))
        .filter(({ kind, parts }) => pattern.test(parts[1]!) && (!onlyHybrid || kind === 'hybrid'));
      return table(
        ['name', 'database_name', 'schema_name', 'kind', 'is_hybrid'],
        rows.map(({ kind, parts: [schema, name] }) => [
          ...[name!, session.database, schema!, 'TABLE', kind === 'hybrid' ? 'Y' : 'N'],
        ]),
      );
    }
    case 'WAREHOUSES':
      return table(
        ['name', 'state', 'type', 'size', 'auto_suspend', 'auto_resume'],
        pattern.test(session.warehouse)
          ? [[session.warehouse, 'STARTED', 'STANDARD', 'X-Small', '60', 'true']]
          : [],
      );
    case 'LOCKS':
      return table(
        ['resource', 'type', 'status'],
        session.house.locks.held.map((place) => [place.toUpperCase(), 'PARTITIONS', 'HOLDING']),
      );
    default:
      throw SnowflakeError.unsupported(`SHOW ${what?.upper ?? ''}`);
  }
}

async function describe(session: Session, tree: readonly Node[]): Promise<Rows> {
  const name = nameOf(tree.at(-1) as Token);
  const { rows } = await session.query(
    `select column_name, data_type, case is_nullable when 'YES' then 'Y' else 'N' end
       from snow.is_columns where lower(table_name) = '${name}'
        and lower(table_schema) = '${session.schema}' order by ordinal_position`,
  );
  return table(['name', 'type', 'null?'], rows as unknown as (string | null)[][]);
}
