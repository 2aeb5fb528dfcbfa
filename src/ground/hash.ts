/**
 * The one hash of FleetQ: SHA-256, cut to 128 bits. It chains journal records, seals rows, and makes
 * fingerprints and idempotency keys. Cut, because it is stored with every record and 128 bits are
 * far beyond any accident.
 */
import { hash as hashOnce } from 'node:crypto';

export function hash(text: string): string {
  return hashOnce('sha256', text, 'hex').slice(0, 32);
}
