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
  const entries = Object.entries(JSON.parse(body) as object);
  table.set(id, Object.fromEntries(entries.map(([name, value]) => [name, value ?? undefined])));
}

export function factsIn(tables: MemoryTables): Fact[] {
  return FACT_KINDS.flatMap((kind) =>
    [...TABLE_OF[kind](tables)].map(([id, value]) => ({ kind, id, body: bodyOf(value) })),
  );
}

/** What is not there is said, so that a row that is read has the properties it was written with. */
function bodyOf(value: object): string {
  const entries = Object.entries(value).map(([name, part]) => [name, part ?? null]);
  return JSON.stringify(Object.fromEntries(entries));
}
