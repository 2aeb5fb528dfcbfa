/** The pods that run on this host, below one data directory: found by their sockets. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { placeOf } from '../../journal/index.ts';
import type { FleetStatus } from '../../main.ts';
import type { Store } from '../../store/index.ts';
import { SocketClient } from '../socket-client.ts';

type PodStatus = NonNullable<FleetStatus['pod']>;

const POD_DIRECTORY = /^pod-\d{1,4}$/;

/** `<dataDir>/pod-<number>`, from 1. */
export function podDirectory(dataDir: string, number: number): string {
  return join(dataDir, `pod-${number}`);
}

/** The directory itself, and one for each pod that was ever started below it. */
export function podDirectories(dataDir: string): string[] {
  const names = existsSync(dataDir) ? readdirSync(dataDir) : [];
  const below = names.filter((name) => POD_DIRECTORY.test(name)).sort();
  return [dataDir, ...below.map((name) => join(dataDir, name))];
}

/** The leader of the fleet, if it is one of those that answer here; the caller closes its client. */
export function leaderHere(
  dataDir: string,
): Promise<{ readonly client: SocketClient; readonly pod: string } | undefined> {
  return firstHere(dataDir, ({ pod, leader }) => leader === pod);
}

/** This very pod, if it answers here; the caller closes its client. */
export async function thisPodHere(
  dataDir: string,
  wanted: string,
): Promise<SocketClient | undefined> {
  return (await firstHere(dataDir, ({ pod }) => pod === wanted))?.client;
}

/** Any pod that answers here and belongs to this very fleet; the caller closes its client. */
export async function podHere(
  dataDir: string,
  store: Pick<Store, 'pods'>,
): Promise<SocketClient | undefined> {
  const up = new Set<string>();
  for (const { pod, status } of await store.pods()) if (status === 'up') up.add(pod);
  return (await firstHere(dataDir, ({ pod }) => up.has(pod ?? '')))?.client;
}

async function firstHere(
  dataDir: string,
  isWanted: (pod: PodStatus) => boolean,
): Promise<{ readonly client: SocketClient; readonly pod: string } | undefined> {
  for (const directory of podDirectories(dataDir)) {
    const { socket } = placeOf(directory);
    if (!existsSync(socket)) continue;
    const client = new SocketClient(socket);
    const status = await client.status().catch(() => undefined);
    const pod = (status as FleetStatus | undefined)?.pod;
    if (pod?.pod !== undefined && isWanted(pod)) return { client, pod: pod.pod };
    client.close();
  }
  return undefined;
}
