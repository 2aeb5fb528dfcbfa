/** What `fleetq doctor` says of keys: which are configured, and which are met in the store and missing. */
import { statSync } from 'node:fs';
import { type Config, codecKeyIds, codecKeysIn } from '../config/index.ts';
import { describeError, sealedParts } from '../ground/index.ts';
import type { Store } from '../store/index.ts';
import type { Check } from './doctor-checks.ts';

/** Of each kind of task; the newest tell what is sealed now, and what is in flight has to be opened. */
const SAMPLE_COUNT = 200;

export function codecChecks(config: Config): Check[] {
  const name = 'codec';
  const { codecKeysFile: file } = config;
  try {
    const keys = codecKeysIn(config);
    if (!keys) return [];
    const fact = `keys ${codecKeyIds(keys)}`;
    const isOpen = file !== undefined && (statSync(file).mode & 0o004) !== 0;
    return isOpen
      ? [
          {
            name,
            verdict: 'warn',
            fact: `${fact}; everybody may read ${file}`,
            fix: `chmod 600 ${file}`,
          },
        ]
      : [{ name, verdict: 'ok', fact }];
  } catch (error) {
    const { hint } = error as { hint?: string };
    return [{ name, verdict: 'fail', fact: describeError(error).message, fix: hint }];
  }
}

/** `store` as it is, behind no codec. */
export async function sealCheck(store: Store, config: Config): Promise<Check> {
  const configured = new Set(Object.keys(codecKeysIn(config)?.keys ?? {}));
  const countMax = SAMPLE_COUNT;
  const rows = [
    ...(await store.list({ isInFlight: true, countMax })),
    ...(await store.list({ countMax })),
  ];
  const met = new Map<string, number>();
  for (const { payload } of new Map(rows.map((row) => [row.id, row])).values()) {
    const key = sealedParts(payload ?? '')?.key;
    if (key !== undefined) met.set(key, (met.get(key) ?? 0) + 1);
  }
  const missing = [...met.keys()].filter((key) => !configured.has(key));
  const name = 'seals';
  if (met.size === 0) return { name, verdict: 'ok', fact: 'nothing in the sample is sealed' };
  const fact = [...met].map(([key, count]) => `${key} (${count})`).join(', ');
  return missing.length === 0
    ? { name, verdict: 'ok', fact: `met in the store: ${fact}` }
    : {
        name,
        verdict: 'warn',
        fact: `met in the store: ${fact}; not here: ${missing.join(', ')}`,
        fix: 'give this host those keys, or its pods leave such tasks to others',
      };
}
