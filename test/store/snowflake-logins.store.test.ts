/** Every way to log in, through the real driver; and what is said where one does not fit. */
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock, systemRandom } from '../../src/ground/index.ts';
import { StoreOptionsError } from '../../src/store/errors.ts';
import { withRun } from '../../src/store/snowflake/open.ts';
import { type EmulatedSnowflake, startSnowflake } from '../emulator/snowflake/index.ts';
import { removeTree } from '../support/remove-tree.ts';

const SECRETS = ['correct-horse', 'battery-staple', 'wrong-passphrase', 'stale-token', 'guessed'];
const directory = mkdtempSync(join(tmpdir(), 'fleetq-logins-'));
const file = (name: string, text: string) => {
  const path = join(directory, name);
  writeFileSync(path, text, { mode: 0o600 });
  return path;
};
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const pem = { type: 'pkcs8', format: 'pem' } as const;
const sealed = { ...pem, cipher: 'aes-256-cbc', passphrase: 'correct-horse' } as const;
const FILES = {
  key: file('rsa_key.p8', rsa.privateKey.export(pem).toString()),
  sealed: file('sealed.p8', rsa.privateKey.export(sealed).toString()),
  other: file(
    'other.p8',
    generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export(pem).toString(),
  ),
  ec: file('ec.p8', ec.privateKey.export(pem).toString()),
  noKey: file('no.p8', 'guessed'),
  passphrase: file('passphrase', 'correct-horse\n'),
  wrong: file('wrong', 'wrong-passphrase\n'),
  token: file('token', 'battery-staple\n'),
  stale: file('stale', 'stale-token\n'),
  empty: file('empty', '\n'),
};

let account: EmulatedSnowflake;
beforeAll(async () => {
  const publicKey = rsa.publicKey.export({ type: 'spki', format: 'pem' }).toString();
  const given = { publicKey, accessToken: 'battery-staple', password: 'correct-horse' };
  account = await startSnowflake({ account: given });
});
afterAll(async () => {
  await account?.stop();
  removeTree(directory);
});

function login(words: string, password = ''): Promise<unknown> {
  const { options } = account;
  const who = password === '' ? options.username : `${options.username}:${password}`;
  const where = `${options.account}/${options.database}/${options.schema}`;
  const address = `snowflake://${who}@${where}?access=${options.accessUrl}&${words}`;
  const ports = { clock: systemClock, random: systemRandom, deadlineMs: 60_000 };
  return (async () =>
    withRun(address, ports, async (run) => (await run('select current_user() as who')).rows))();
}

test.each([
  ['a key', `key=${FILES.key}`, ''],
  ['a key with a passphrase', `key=${FILES.sealed}&passphrase=${FILES.passphrase}`, ''],
  ['an OAuth token', `token=${FILES.token}`, ''],
  ['a programmatic access token', `token=${FILES.token}&auth=pat`, ''],
  ['a password', 'warehouse=W', 'correct-horse'],
])('%s lets in', async (_, words, password) => {
  expect(await login(words, password)).toEqual([{ who: 'FLEETQ' }]);
});

test.each([
  ['a key that is not the user’s', `key=${FILES.other}`, '', /by key: .*\(390144\)/],
  ['a key of another kind', `key=${FILES.ec}`, '', /must be an RSA key, and is one of ec/],
  ['a file that holds no key', `key=${FILES.noKey}`, '', /holds no private key in PEM/],
  ['a file that is not there', `key=${directory}/nowhere`, '', /file of the key cannot be read/],
  ['a sealed key alone', `key=${FILES.sealed}`, '', /sealed by a passphrase, and none is given/],
  [
    'another passphrase',
    `key=${FILES.sealed}&passphrase=${FILES.wrong}`,
    '',
    /the passphrase does not open the key/,
  ],
  [
    'an empty passphrase',
    `key=${FILES.sealed}&passphrase=${FILES.empty}`,
    '',
    /file of the passphrase is empty/,
  ],
  ['a token that has expired', `token=${FILES.stale}`, '', /by oauth: .*\(390303\)/],
  ['a PAT that was revoked', `token=${FILES.stale}&auth=pat`, '', /by pat: .*\(390303\)/],
  ['an empty token', `token=${FILES.empty}`, '', /file of the token is empty/],
  ['no token', `token=${directory}/nowhere`, '', /file of the token cannot be read/],
  ['another password', 'warehouse=W', 'guessed', /by password: .*\(390100\)/],
  ['a passphrase without a key', `token=${FILES.token}&passphrase=x`, '', /goes with key alone/],
])('%s is refused in words, and no secret is among them', async (_, words, password, message) => {
  const error = await login(words, password).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(StoreOptionsError);
  expect((error as Error).message).toMatch(message);
  const said = `${inspect(error, { depth: 20, showHidden: true })} ${(error as Error).stack}`;
  for (const secret of SECRETS) expect(said).not.toContain(secret);
  expect(said).not.toContain('PRIVATE KEY');
});
