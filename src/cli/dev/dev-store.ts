/** What the pods of `fleetq dev` share: a file of their own, or a Postgres that was asked for. */
import { join } from 'node:path';
import type { Config } from '../../config/index.ts';
import { type Duration, parseDuration } from '../../ground/index.ts';
import { openStore } from '../../store/index.ts';
import { migrateSqliteStore } from '../../store/sqlite/migrate.ts';
import type { Options } from '../command.ts';
import { UsageError } from '../errors.ts';
import { storeOptions } from '../fleet/open.ts';
import type { DevPostgres } from './postgres.ts';

/** Short, so that a take-over can be waited for. A busy host may want a longer silence. */
const SILENCE = '3s';
const ARCHIVE = '200ms';
const HEARTBEAT_MS_MAX = 500;
const HEARTBEATS_PER_SILENCE = 6;

export interface DevStore {
  readonly address: string;
  /** Can be stopped and started; undefined where it is not ours. */
  readonly postgres: DevPostgres | undefined;
}

/** With its tables. A store that is configured is left alone: samples and kills have no place there. */
export async function openDevStore(config: Config, { postgres }: Options): Promise<DevStore> {
  if (postgres === undefined) {
    const path = join(config.dataDir, 'fleet.db');
    await migrateSqliteStore(path, storeOptions(config));
    return { address: `sqlite:${path}`, postgres: undefined };
  }
  if (typeof postgres === 'string') {
    if (!/^postgres(ql)?:\/\//i.test(postgres)) {
      throw new UsageError('--postgres wants an address like postgres://user@host/database', {
        hint: 'leave the address out to get a server of its own',
      });
    }
    await migrate(config, postgres);
    return { address: postgres, postgres: undefined };
  }
  const { DevPostgres } = await import('./postgres.ts');
  const own = await DevPostgres.open(config.dataDir);
  try {
    await migrate(config, own.url);
  } catch (error) {
    await own.close();
    throw error;
  }
  return { address: own.url, postgres: own };
}

async function migrate(config: Config, address: string): Promise<void> {
  const store = await openStore(address, { ...storeOptions(config), migrates: true });
  await store.close();
}

export function timesOf(config: Config) {
  const silence = config.silence ?? SILENCE;
  return { silence, heartbeat: heartbeatFor(silence), archive: ARCHIVE } as const;
}

function heartbeatFor(silence: Duration): `${number}ms` {
  return `${Math.min(HEARTBEAT_MS_MAX, Math.floor(parseDuration(silence)! / HEARTBEATS_PER_SILENCE))}ms`;
}

/** Says what came of it. */
export function togglePostgres(postgres: DevStore['postgres'], say: (text: string) => void): void {
  if (!postgres) return say('no Postgres of its own: begin with fleetq dev --postgres');
  postgres.toggle().then(
    (isUp) => say(isUp ? 'Postgres is back: pods catch up' : 'Postgres is stopped: pods are alone'),
    (error: Error) => say(error.message),
  );
}
