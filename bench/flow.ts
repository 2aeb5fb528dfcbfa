/** How tasks come in and who gets them: many at once, through a spike, and with a pod that joins. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFleet, type Fleet } from '../src/index.ts';
import { startPostgres } from '../test/support/postgres.ts';
import { removeTree } from '../test/support/remove-tree.ts';
import { benchIntake, mail } from './flow-intake.ts';
import { benchJoin } from './flow-join.ts';
import { benchSpike } from './flow-spike.ts';

/** `--only=intake,spike,join`: a part of it, while something is being tuned. */
const only = process.argv.find((argument) => argument.startsWith('--only='));
const isWanted = (part: 'intake' | 'spike' | 'join') =>
  only === undefined || only.slice('--only='.length).split(',').includes(part);

export async function benchFlow(): Promise<object> {
  const server = await startPostgres();
  const directory = mkdtempSync(join(tmpdir(), 'fleetq-flow-'));
  const fleets: Fleet[] = [];
  const open = async (name: string, isClient: boolean) => {
    const dataDir = join(directory, name);
    const fleet = await createFleet({
      ...{ machines: [mail], store, migrates: true, isClient, dataDir, socket: false },
    });
    fleets.push(fleet);
    return fleet;
  };
  const store = await server.createDatabase();
  try {
    const client = await open('client', true);
    const intake = isWanted('intake') ? await benchIntake(store, client) : {};
    if (isWanted('spike')) await open('pod', false);
    const spike = isWanted('spike') ? await benchSpike(client) : {};
    await Promise.all(fleets.splice(0).map((fleet) => fleet.drain()));
    return { ...intake, ...spike, ...(isWanted('join') ? await benchJoin() : {}) };
  } finally {
    await Promise.all(fleets.map((fleet) => fleet.drain()));
    await server.remove();
    removeTree(directory);
  }
}
