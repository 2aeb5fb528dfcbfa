/**
 * One attempt at a call. The rows it concerns are read onto the desk, the rules, which are those of the
 * store in memory, decide what becomes of them, and whatever has changed is written back: each row only
 * if nobody has written it since. So every statement is a compare-and-set of its own, no lock is held
 * while anybody thinks, and there is one set of rules for all stores.
 */
import type { Clock, Random } from '../../ground/index.ts';
import { MemoryTables } from '../memory/tables.ts';
import {
  AUDIT_LOG,
  type Cells,
  cellsOf,
  keyOf,
  POD_HEALTH,
  RUN_EVENTS,
  recordOf,
  STEP_TRACKER,
  TABLES,
  type Table,
} from './columns.ts';
import type { Row } from './executor.ts';
import { factsIn, putFact } from './facts.ts';

interface Seen {
  readonly cells: Cells;
  readonly text: string;
  readonly rev: string;
}

/** A row to be written. */
export interface Change {
  readonly key: string;
  readonly what: 'insert' | 'update' | 'delete';
  /** Without its key's columns' meaning changed; of what is deleted, as it was. */
  readonly cells: Cells;
  /** The `rev` that was seen. */
  readonly was: string | null;
  /** Nothing heavy has changed. */
  readonly isLight: boolean;
}

export class Desk {
  readonly tables: MemoryTables;
  readonly #seen = new Map<string, Map<string, Seen>>(TABLES.map(({ name }) => [name, new Map()]));
  #nowMs: number | undefined;

  constructor(clock: Clock, random: Random) {
    const frozen: Clock = { ...clock, now: () => this.nowMs };
    this.tables = new MemoryTables({ clock: frozen, random });
  }

  get hasNow(): boolean {
    return this.#nowMs !== undefined;
  }

  /** By the account's clock, when the first rows were read. */
  get nowMs(): number {
    return this.#nowMs ?? 0;
  }

  /** Puts what a statement has found on the desk; a row that came before stays as it is. */
  put(table: Table, rows: readonly Row[]): void {
    for (const row of rows) {
      if (row['now_ms'] !== undefined) this.#nowMs ??= Number(row['now_ms']);
      const first = row[table.key[0]!.name];
      // Of a join that found nothing but the time.
      if (first === undefined || first === null) continue;
      const record = recordOf<object>(table, row);
      const seen = this.#seen.get(table.name)!;
      const key = keyOf(table, record);
      if (seen.has(key)) continue;
      const cells = cellsOf(table, record);
      seen.set(key, { cells, text: JSON.stringify(cells), rev: String(row['rev']) });
      this.#place(table, key, record);
    }
  }

  /** The statement that writes looks at the pod itself; the rules are told that it is up. */
  assumeUp(pod: string): void {
    this.put(POD_HEALTH, [{ pod_id: pod, status: 'up', routes: '[]', report: '{}', rev: '' }]);
  }

  /** A task that was read and is left to others. */
  forget(task: string): void {
    this.tables.tasks.delete(task);
    this.#seen.get(STEP_TRACKER.name)!.delete(JSON.stringify([task]));
  }

  #place(table: Table, key: string, record: object): void {
    const { tables } = this;
    switch (table) {
      case STEP_TRACKER:
        tables.tasks.set((record as { taskId: string }).taskId, record as never);
        return;
      case POD_HEALTH:
        tables.pods.set((record as { podId: string }).podId, record as never);
        return;
      case RUN_EVENTS:
        tables.events.set(key, record as never);
        return;
      case AUDIT_LOG:
        tables.audit.set((record as { id: string }).id, record as never);
        return;
      default:
        putFact(tables, record as never);
    }
  }

  /** What the rules have made of it. */
  changes(table: Table): Change[] {
    const seen = this.#seen.get(table.name)!;
    const left = new Set(seen.keys());
    const changes: Change[] = [];
    for (const record of this.#records(table)) {
      const key = keyOf(table, record);
      const cells = cellsOf(table, record);
      const before = seen.get(key);
      left.delete(key);
      if (!before) changes.push({ key, what: 'insert', cells, was: null, isLight: false });
      else if (JSON.stringify(cells) !== before.text) {
        const isLight = table.heavy.every((name) => cells[name] === before.cells[name]);
        changes.push({ key, what: 'update', cells, was: before.rev, isLight });
      }
    }
    for (const key of left) {
      const { cells, rev } = seen.get(key)!;
      changes.push({ key, what: 'delete', cells, was: rev, isLight: true });
    }
    return changes;
  }

  /** Anything but what is told of it in the log. */
  get hasChanges(): boolean {
    return TABLES.some((table) => table !== AUDIT_LOG && this.changes(table).length > 0);
  }

  #records(table: Table): Iterable<object> {
    const { tables } = this;
    switch (table) {
      case STEP_TRACKER:
        return tables.tasks.values();
      case POD_HEALTH:
        return tables.pods.values();
      case RUN_EVENTS:
        return tables.events.values();
      case AUDIT_LOG:
        return tables.audit.values();
      default:
        return factsIn(tables);
    }
  }
}
