/** What the pods of `fleetq dev` share: a file of their own, or a Postgres that was asked for. */
import { join } from 'node:path';
import type { Config } from '../../config/index.ts';
import { type Duration, parseDuration } from '../../ground/index.ts';
import { openStore } from '../../store/index.ts';
import { migrateSqliteStore } from '../../store/sqlite/migrate.ts';
import type { Options } from '../command.ts';
import { UsageError } from '../errors.ts';
import { storeOptions } from '../fleet/open.ts';

/** Short, so that a take-over can be waited for. A busy host may want a longer silence. */
const SILENCE = '3s';
const ARCHIVE = '200ms';
const HEARTBEAT_MS_MAX = 500;
const HEARTBEATS_PER_SILENCE = 6;

/**
 * Its address, with its tables there. A store that is configured is left alone: samples and kills have no
 * place in it.
 */
export async function openDevStore(config: Config, { postgres }: Options): Promise<string> {
  if (typeof postgres !== 'string') {
    const path = join(config.dataDir, 'fleet.db');
    await migrateSqliteStore(path, storeOptions(config));
    return `sqlite:${path}`;
  }
  if (!/^postgres(ql)?:\/\//i.test(postgres)) {
    throw new UsageError('--postgres wants an address like postgres://user@host/database');
  }
  const store = await openStore(postgres, { ...storeOptions(config), migrates: true });
  await store.close();
  return postgres;
}

export function timesOf(config: Config) {
  const silence = config.silence ?? SILENCE;
  return { silence, heartbeat: heartbeatFor(silence), archive: ARCHIVE } as const;
}

function heartbeatFor(silence: Duration): `${number}ms` {
  return `${Math.min(HEARTBEAT_MS_MAX, Math.floor(parseDuration(silence)! / HEARTBEATS_PER_SILENCE))}ms`;
}
