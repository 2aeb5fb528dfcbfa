/**
 * An archive in the tables of an account. No statement is part of a transaction: a process that dies in
 * one would hold the tables for minutes. A tenure begins by raising the epoch of the position, so what
 * an earlier holder still writes of it is refused, and what it sends of tasks and histories changes
 * nothing that the new one has sent.
 */
import type { Clock, Random } from '../../ground/index.ts';
import { StoreSchemaError } from '../errors.ts';
import {
  type AppliedMigration,
  migrationsDirectory,
  planMigrations,
  readMigrations,
} from '../migrations.ts';
import { SinkLostError } from '../sink/forwarder.ts';
import type { Batch, Cells, Position, Sink } from '../sink/sink.ts';
import type { OpenSession } from './executor.ts';
import { statementsIn } from './migrate.ts';
import { type Run, Sessions } from './sessions.ts';
import * as statements from './sink.sql.ts';

export interface SnowflakeSinkOptions {
  readonly open: OpenSession;
  readonly deadlineMs: number;
  /** Of the rows, so that several fleets may share an archive. */
  readonly name: string;
  readonly clock: Clock;
  readonly random: Random;
}

interface Tenure {
  readonly epoch: number;
  readonly holder: string;
}

const NOTHING: Position = { last: null, round: null };
const TAKE_ATTEMPTS = 5;

export class SnowflakeSink implements Sink {
  readonly #name: string;
  readonly #sessions: Sessions;
  #tenure: Tenure | undefined;

  constructor({ open, deadlineMs, name, clock, random }: SnowflakeSinkOptions) {
    this.#name = name;
    this.#sessions = new Sessions(open, { deadlineMs, countMax: 1, owner: 'sink' }, clock, random);
  }

  close(): Promise<void> {
    return this.#sessions.close();
  }

  prepare(isToMake: boolean): Promise<void> {
    return this.#sessions.use(async ({ run }) => {
      const known = readMigrations(migrationsDirectory('snowflake/sink'));
      const plan = planMigrations(await appliedTo(run), known);
      if (plan instanceof Error) throw plan;
      if (plan.length === 0) return;
      if (!isToMake) {
        const names = plan.map(({ name }) => name).join(', ');
        throw new StoreSchemaError(`the archive lacks ${names}`, {
          hint: 'run fleetq sink once with --migrate, as a role that may create tables',
        });
      }
      await run(statements.createVersions);
      for (const { version, name, checksum, sql } of plan) {
        for (const statement of statementsIn(sql)) await run(statement);
        await run(statements.insertVersion, [version, name, checksum]);
      }
    });
  }

  async position(): Promise<Position | undefined> {
    return (await this.#sessions.use(({ run }) => this.#read(run)))?.position;
  }

  /** Several that take over at once get epochs one after the other; what is read last stands. */
  takeOver(holder: string): Promise<Position | undefined> {
    this.#tenure = undefined;
    return this.#sessions.use(async ({ run }) => {
      for (let attempts = 0; attempts < TAKE_ATTEMPTS; attempts += 1) {
        const seen = await this.#read(run);
        if (!seen) {
          const binds = [this.#name, holder, JSON.stringify(NOTHING)];
          await run(statements.insertPosition, binds);
          continue;
        }
        const epoch = seen.epoch + 1;
        await run(statements.takePosition, [epoch, holder, this.#name, seen.epoch]);
        const now = await this.#read(run);
        if (now?.epoch !== epoch || now.holder !== holder) continue;
        this.#tenure = { epoch, holder };
        return now.position;
      }
      throw new SinkLostError(this.#name);
    });
  }

  async put({ events, rows, position }: Batch): Promise<void> {
    const tenure = this.#tenure;
    if (!tenure) throw new SinkLostError(this.#name);
    await this.#sessions.use(async ({ run }) => {
      if (events.length > 0) await run(statements.mergeSegments, [this.#bindOf(events, tenure)]);
      if (rows.length > 0) await run(statements.mergeTasks, [this.#bindOf(rows, tenure)]);
      if (position) await this.#write(run, position, tenure);
    });
  }

  async #write(run: Run, position: Position, { epoch, holder }: Tenure): Promise<void> {
    const binds = [JSON.stringify(position), this.#name, epoch, holder];
    const { count } = await run(statements.writePosition, binds);
    if (count === 0) throw new SinkLostError(this.#name);
  }

  #bindOf(rows: readonly Cells[], { epoch }: Tenure): string {
    return JSON.stringify(rows.map((row) => ({ ...row, source: this.#name, sink_epoch: epoch })));
  }

  async #read(run: Run): Promise<(Tenure & { readonly position: Position }) | undefined> {
    const { rows } = await run(statements.selectPosition, [this.#name]);
    const [row] = rows;
    if (!row) return undefined;
    return {
      epoch: Number(row['sink_epoch']),
      holder: String(row['holder']),
      position: JSON.parse(String(row['position'])) as Position,
    };
  }
}

async function appliedTo(run: Run): Promise<AppliedMigration[]> {
  try {
    const { rows } = await run(statements.selectVersions);
    return rows.map((row) => ({
      version: Number(row['version']),
      name: String(row['name']),
      checksum: String(row['checksum']),
    }));
  } catch (error) {
    if (error instanceof StoreSchemaError) return [];
    throw error;
  }
}
