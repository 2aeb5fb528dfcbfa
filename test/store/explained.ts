/** How many rows a statement looks at, as Postgres itself counts them. Nothing is kept. */
import type pg from 'pg';

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Join Filter'?: number;
  readonly Plans?: readonly PlanNode[];
}

export interface Explained {
  /** Of this table, thrown away ones included. */
  readonly rows: number;
  /** Every kind of node there is. */
  readonly nodes: readonly string[];
  /** The most rows that were sorted at once. */
  readonly sortedMax: number;
}

/** `before` is sent first, within the same transaction. */
export async function explain(
  client: pg.Client,
  table: string,
  statement: { readonly text: string; readonly values: readonly unknown[] },
  before: string,
): Promise<Explained> {
  await client.query('begin');
  try {
    await client.query(before);
    const { rows } = await client.query(
      `explain (analyze, format json) ${statement.text}`,
      statement.values as unknown[],
    );
    const [{ Plan }] = rows[0]['QUERY PLAN'] as [{ Plan: PlanNode }];
    const nodes = flat(Plan);
    const looked = nodes.filter((node) => node['Relation Name'] === table).map(rowsOf);
    const sorted = nodes.filter((node) => node['Node Type'].includes('Sort'));
    return {
      rows: looked.reduce((sum, each) => sum + each, 0),
      nodes: [...new Set(nodes.map((node) => node['Node Type']))],
      sortedMax: Math.max(0, ...sorted.flatMap((node) => (node.Plans ?? []).map(rowsOf))),
    };
  } finally {
    await client.query('rollback');
  }
}

function flat(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(flat)];
}

function rowsOf(node: PlanNode): number {
  const removed =
    (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Join Filter'] ?? 0);
  return (node['Actual Rows'] + removed) * node['Actual Loops'];
}
