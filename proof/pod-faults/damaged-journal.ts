/** F2: a large journal whose last page of records is bad takes records again at the next start at the latest. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Damage, damageLastLeaf, fillJournal } from './damage.ts';
import { atLeast, exactly, type Promised, says } from './promised.ts';
import type { Stage } from './stage.ts';

const TABLES = ['events', 'events_of_run'] as const;
const DAMAGES: readonly Damage[] = ['junk', 'zeros'];
const ANSWER_MS_MAX = 10_000;

export async function damagedJournal(stage: Stage): Promise<Promised[]> {
  const promised: Promised[] = [];
  for (const table of TABLES) {
    for (const how of DAMAGES) promised.push(...(await oneJournal(stage, table, how)));
  }
  return promised;
}

async function oneJournal(stage: Stage, table: string, how: Damage): Promise<Promised[]> {
  const podName = `${table}-${how}`;
  const dataDir = join(stage.directory, podName);
  const live = () => stage.loner({ podName, ledger: '' });
  const first = await live();
  const mib = await fillJournal(first, dataDir);
  await first.kill();
  damageLastLeaf(dataDir, table, how);

  // The damage is met by the first record of the second life, and is known to the third.
  const second = await live();
  await second.ask('finish', { count: 1 }, 2_000).catch(() => undefined);
  const { stalledBy } = await second.look();
  await second.kill();

  const third = await live();
  const done = await third.ask<string[]>('finish', { count: 10 }, ANSWER_MS_MAX).catch(() => []);
  const { alarms, stalledBy: still } = await third.look();
  await third.kill();
  const fourth = await live();
  const { alarms: later } = await fourth.look();
  await fourth.kill();
  const quarantine = join(dataDir, 'quarantine');
  const files = existsSync(quarantine) ? readdirSync(quarantine) : [];
  const aside = files.filter((file) => file.endsWith('.db'));
  return [
    atLeast(`${podName}: MiB of the journal`, 65, mib),
    says(`${podName}: the life that meets it`, /malformed/, stalledBy),
    says(`${podName}: the next start`, /was damaged .* and was moved to/, alarms[0]),
    exactly(`${podName}: files put aside`, 1, aside.length),
    exactly(`${podName}: local runs done then`, 10, done.length),
    exactly(`${podName}: it takes records`, true, still === undefined),
    exactly(`${podName}: alarms of the start after that`, 0, later.length),
  ];
}
