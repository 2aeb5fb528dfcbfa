/** Secrets and their hashes. A secret is 32 random bytes, so one round of SHA-256 hides it for good. */
import { hash, timingSafeEqual } from 'node:crypto';
import type { Grant } from '../../config/index.ts';
import type { Random } from '../../ground/index.ts';

const SECRET_BYTES = 32;
const SECRET = /^fq_[0-9a-f]{64}$/;

export function newSecret(random: Random): string {
  return `fq_${random.hex(SECRET_BYTES)}`;
}

export function hashOfSecret(secret: string): string {
  return hash('sha256', secret, 'hex');
}

/** The grant whose secret this is. Looks at all of them, whichever it is, and for equally long. */
export function grantOf(grants: readonly Grant[], secret: string): Grant | undefined {
  const given = Buffer.from(hashOfSecret(secret.slice(0, 1_000)), 'hex');
  let found: Grant | undefined;
  for (const grant of grants) {
    if (timingSafeEqual(given, Buffer.from(grant.hash, 'hex'))) found = grant;
  }
  return SECRET.test(secret) ? found : undefined;
}
