/** Workers on clones of a volume, each under a supervisor of its own. */
import { join } from 'node:path';
import { freePort } from '../../test/support/postgres.ts';
import { HEARTBEAT_MS, SILENCE_MS, type Stage } from './stage.ts';
import { Supervised } from './supervised.ts';
import type { Volume } from './volume.ts';

export interface ClonesOptions {
  /** That of the original, as a clone of its host has it. */
  readonly podName: string;
  readonly count: number;
  readonly slots?: number;
}

export async function startClones(
  stage: Stage,
  volume: Volume,
  { podName, count, slots = 8 }: ClonesOptions,
): Promise<Supervised[]> {
  const clones: Supervised[] = [];
  for (let number = 1; number <= count; number += 1) {
    const { inside, directory, remove } = await volume.clone(`clone-${number}`);
    stage.atEnd(() => remove());
    const env = {
      FLEETQ_DATA_DIR: join(directory, 'data'),
      FLEETQ_STORE_URL: stage.url,
      FLEETQ_POD_NAME: podName,
      FLEETQ_HEARTBEAT: `${HEARTBEAT_MS}ms`,
      FLEETQ_SILENCE: `${SILENCE_MS}ms`,
      FLEETQ_SLOTS: `${slots}`,
      FLEETQ_LOG_FORMAT: 'json',
      FAULTS_LEDGER: stage.ledger,
    };
    const clone = new Supervised({ inside, env, health: `127.0.0.1:${await freePort()}` });
    stage.atEnd(() => clone.end());
    clones.push(clone);
  }
  return clones;
}
