/** What all sessions of one emulated account share: tables and their kinds, locks, clock, chaos. */
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import type { Chaos } from './chaos.ts';
import type { TableKind } from './columns.ts';
import type { MadeTable } from './ddl.ts';
import { SnowflakeError } from './errors.ts';
import { TableLocks } from './locks.ts';
import { Meter } from './meter.ts';
import { Snapshots } from './snapshots.ts';

/** Everything comes as text: the driver wants it so. */
const AS_TEXT = {
  getTypeParser: () => (value: string) => value,
} as unknown as pg.CustomTypesConfig;

export function connectTo(url: string): pg.Client {
  return new pg.Client({ connectionString: url, types: AS_TEXT }).on('error', () => undefined);
}

export class House {
  readonly url: string;
  readonly chaos: Chaos;
  readonly locks = new TableLocks();
  readonly meter = new Meter();
  readonly snapshots: Snapshots;
  readonly #tables = new Map<string, MadeTable>();
  readonly #changes = new Map<string, bigint>();
  #clock = BigInt(Date.now()) * 1_000_000n;
  /** Added to the account's clock. */
  shiftMs = 0;
  hybridAllowed = true;

  constructor(url: string, chaos: Chaos) {
    this.url = url;
    this.chaos = chaos;
    this.snapshots = new Snapshots(() => connectTo(url));
  }

  /** After a restart on the same database: what was made before. */
  async load(): Promise<void> {
    const client = connectTo(this.url);
    await client.connect();
    try {
      const { rows } = await client.query(
        'select place, kind, array_to_json(key_columns) as k from snow.tables',
      );
      for (const { place, kind, k } of rows as { place: string; kind: TableKind; k: string }[]) {
        this.#tables.set(place, { place, kind, keyColumns: JSON.parse(k) });
      }
    } finally {
      await client.end();
    }
  }

  nowMs(): number {
    return Date.now() + this.shiftMs;
  }

  kindOf(place: string): TableKind | undefined {
    return this.#tables.get(place)?.kind;
  }

  keyOf(place: string): readonly string[] {
    return this.#tables.get(place)?.keyColumns ?? [];
  }

  get tables(): readonly MadeTable[] {
    return [...this.#tables.values()];
  }

  made(table: MadeTable): void {
    this.#tables.set(table.place, table);
  }

  dropped(place: string): void {
    this.#tables.delete(place);
  }

  droppedSchema(schema: string): void {
    for (const place of this.#tables.keys()) {
      if (place.startsWith(`${schema}.`)) this.#tables.delete(place);
    }
  }

  #definitions: Promise<unknown> = Promise.resolve();

  /** Definitions one at a time: IF NOT EXISTS means it, whoever else is about to make the same. */
  defining<T>(define: () => Promise<T>): Promise<T> {
    const next = this.#definitions.then(define);
    this.#definitions = next.catch(() => undefined);
    return next;
  }

  changed(place: string): void {
    const now = BigInt(this.nowMs()) * 1_000_000n;
    this.#clock = now > this.#clock ? now : this.#clock + 1n;
    this.#changes.set(place, this.#clock);
  }

  /** SYSTEM$LAST_CHANGE_COMMIT_TIME. Not known to work on hybrid tables, so it does not. */
  lastChangeOf(place: string): string {
    if (this.kindOf(place) === undefined) {
      throw new SnowflakeError(
        '002003',
        '42S02',
        `SQL compilation error:\nObject '${place.toUpperCase()}' does not exist or not authorized.`,
      );
    }
    if (this.kindOf(place) === 'hybrid') {
      throw SnowflakeError.unsupported('SYSTEM$LAST_CHANGE_COMMIT_TIME of a hybrid table');
    }
    return String(this.#changes.get(place) ?? 0n);
  }

  newQueryId(): string {
    return randomUUID();
  }
}
