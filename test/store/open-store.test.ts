/** An address opens its store; one that makes no sense is refused without telling its secrets. */
import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type FleetqError, systemClock, systemRandom } from '../../src/ground/index.ts';
import { openStore, StoreOptionsError } from '../../src/store/index.ts';
import { useTempDirs } from '../support/temp-dir.ts';

const newDir = useTempDirs();
const options = { clock: systemClock, random: systemRandom };

test('memory: opens tables of their own', async () => {
  const store = await openStore('memory:', options);
  expect(store.capabilities.kind).toBe('memory');
  expect(await store.pods()).toEqual([]);
  await store.close();
});

test('sqlite: opens the file it names, with or without the slashes of a URL', async () => {
  const file = newDir('fleet/fleet.db');
  for (const url of [`sqlite:${file}`, `sqlite://${file}`, `SQLITE:${file}`]) {
    const store = await openStore(url, { ...options, migrates: true });
    expect(store.capabilities.kind).toBe('sqlite');
    await store.close();
    expect(existsSync(file)).toBe(true);
  }
});

test('an address is enough: time and chance are the real ones', async () => {
  const file = newDir('fleet/fleet.db');
  await (await openStore(`sqlite:${file}`, { migrates: true })).close();
  const store = await openStore(`sqlite:${file}`);
  expect(await store.list({ countMax: 1 })).toEqual([]);
  await store.close();
  await (await openStore('memory:')).close();
});

const HOSTILE = [
  'mysql://root:sesame@db.example/fleet',
  'postgres:/root:sesame@db.example/fleet',
  'postgres:root:sesame@db.example/fleet',
  'postgress://root:sesame@db.example',
  'root:sesame@db.example/fleet',
  'sesame:secret',
  'sesame',
  'memory:sesame',
  'sqlite://sesame@host/file.db',
  ' postgres://root:sesame@db.example/fleet',
  'snowflake:/root:sesame@account/APP/PUBLIC',
];

test.each(HOSTILE)('the address %j is refused, and its password is not told', async (url) => {
  const error = await openStore(url, options).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(StoreOptionsError);
  const { message, hint, cause } = error as FleetqError;
  expect(message).toContain('address of the store must');
  expect(`${message} ${hint} ${String(cause)}`).not.toContain('sesame');
});

test('the refusal says what was wanted and what came', async () => {
  await expect(openStore('mysql://root:sesame@db.example/fleet', options)).rejects.toThrow(
    'sqlite:./file.db or memory:; got one that begins with "mysql:"',
  );
  await expect(openStore('', options)).rejects.toThrow('; got nothing');
  await expect(openStore('fleet.db', options)).rejects.toThrow('; got something else');
});

test('a sqlite address without a file is refused', async () => {
  for (const url of ['sqlite:', 'sqlite://', 'sqlite:////fleet.db']) {
    await expect(openStore(url, options)).rejects.toThrow('must name a file');
  }
});
