/** Migrates the tables of a fleet as a deploy does, by the package it is told. */
import { writeSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import type * as Ground from '../../src/ground/index.ts';
import type * as Fleetq from '../../src/index.ts';

const { dist, url } = JSON.parse(process.argv[2] ?? '{}') as { dist: string; url: string };
const load = <T>(file: string) => import(pathToFileURL(`${dist}/${file}`).href) as Promise<T>;
const { openStore } = await load<typeof Fleetq>('index.js');
const { systemClock, systemRandom } = await load<typeof Ground>('ground/index.js');

writeSync(1, 'begins\n');
const store = await openStore(url, { clock: systemClock, random: systemRandom, migrates: true });
writeSync(1, 'migrated\n');
await store.close();
