/**
 * How a session logs in: by an RSA key, by a token, or, in tests, by a password. Files are read anew for
 * every session, so that whoever renews a key or a token only writes the file. What is wrong with them is
 * said before the account is asked, and nothing of what they hold is in any error.
 */
import { createPrivateKey, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'snowflake-sdk';
import { describeError } from '../../ground/index.ts';
import { StoreOptionsError } from '../errors.ts';
import { loginCodeOf } from './driver-errors.ts';
import type { SnowflakeAuth } from './options.ts';

export function loginOf(auth: SnowflakeAuth): Partial<ConnectionOptions> {
  switch (auth.by) {
    case 'key':
      return {
        authenticator: 'SNOWFLAKE_JWT',
        privateKey: keyOf(auth).export({ format: 'pem', type: 'pkcs8' }).toString(),
      };
    case 'password':
      return { password: auth.password };
    default:
      return {
        authenticator: auth.by === 'pat' ? 'PROGRAMMATIC_ACCESS_TOKEN' : 'OAUTH',
        token: textIn(auth.file, 'token'),
      };
  }
}

type KeyAuth = Extract<SnowflakeAuth, { readonly by: 'key' }>;

function keyOf({ file, passphraseFile }: KeyAuth): KeyObject {
  const pem = textIn(file, 'key');
  const isSealed = /^-----BEGIN ENCRYPTED|^Proc-Type: 4,ENCRYPTED/m.test(pem);
  if (isSealed && passphraseFile === undefined) {
    throw new StoreOptionsError('the key is sealed by a passphrase, and none is given', {
      hint: 'add passphrase=/path/to/its/file to the address of the store',
    });
  }
  const passphrase = isSealed ? textIn(passphraseFile!, 'passphrase') : undefined;
  const key = readKey(pem, passphrase);
  if (key?.asymmetricKeyType === 'rsa') return key;
  throw new StoreOptionsError(
    key
      ? `the key must be an RSA key, and is one of ${key.asymmetricKeyType ?? 'no known kind'}`
      : isSealed
        ? 'the passphrase does not open the key'
        : 'the file of the key holds no private key in PEM',
    { hint: 'make one with: openssl genrsa 2048 | openssl pkcs8 -topk8 -out rsa_key.p8' },
  );
}

/** Without a cause: what OpenSSL says helps nobody, and may quote what it was given. */
function readKey(key: string, passphrase: string | undefined): KeyObject | undefined {
  try {
    return createPrivateKey({ key, format: 'pem', passphrase });
  } catch {
    return undefined;
  }
}

function textIn(file: string, what: 'key' | 'token' | 'passphrase'): string {
  let text: string;
  try {
    text = readFileSync(file, 'utf8').trim();
  } catch (cause) {
    throw new StoreOptionsError(`the file of the ${what} cannot be read`, {
      cause,
      hint: `check ${what}= in the address of the store`,
    });
  }
  if (text !== '') return text;
  throw new StoreOptionsError(`the file of the ${what} is empty`, {
    hint: `check ${what}= in the address of the store`,
  });
}

const HINTS: Readonly<Record<SnowflakeAuth['by'], string>> = {
  key: "check the user, and that its RSA_PUBLIC_KEY is the other half of the key: desc user '…'",
  oauth: 'the token may have expired: write a new one into its file; for a PAT say auth=pat',
  pat: 'the token may have expired, or been revoked: write a new one into its file',
  password: 'check the user and the password; service users log in by a key',
};

/** What the account had against it; anything else is left as it is. */
export function refusedLogin(thrown: unknown, { by }: SnowflakeAuth): unknown {
  const code = loginCodeOf(thrown);
  if (code === undefined) return thrown;
  // Not the error itself: what a driver carries along is for nobody to know.
  const { message } = describeError(thrown);
  return new StoreOptionsError(`Snowflake does not let us in by ${by}: ${message} (${code})`, {
    hint: HINTS[by],
  });
}
