/** Which small table of the rules each kind of fact is. */
import type { MemoryTables } from '../memory/tables.ts';

export const FACT_KINDS = [
  ...(['route', 'term', 'queue', 'machine'] as const),
  ...(['throttle', 'bulk', 'schedule'] as const),
];
export type FactKind = (typeof FACT_KINDS)[number];

/** A row of fleet_fact. */
export interface Fact {
  readonly kind: FactKind;
  readonly id: string;
  /** JSON text. */
  readonly body: string;
}

const TABLE_OF = {
  route: (tables) => tables.registry,
  term: (tables) => tables.terms,
  queue: (tables) => tables.flow.queues,
  machine: (tables) => tables.flow.machines,
  throttle: (tables) => tables.throttles,
  bulk: (tables) => tables.bulks,
  schedule: (tables) => tables.schedules,
} as const satisfies Record<FactKind, (tables: MemoryTables) => Map<string, object>>;

export function putFact(tables: MemoryTables, { kind, id, body }: Fact): void {
  const table: Map<string, object> = TABLE_OF[kind](tables);
  table.set(id, JSON.parse(body));
}

export function factsIn(tables: MemoryTables): Fact[] {
  return FACT_KINDS.flatMap((kind) =>
    [...TABLE_OF[kind](tables)].map(([id, value]) => ({ kind, id, body: JSON.stringify(value) })),
  );
}
