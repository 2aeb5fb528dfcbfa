/** What the tests of fleetq/testing share: the built package, as users get it, with the types of the source. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export type Testing = typeof import('../../src/testing/index.ts');

/** Built, since its processes start five times as fast as those of the source. */
export async function builtTesting(): Promise<Testing> {
  const built = new URL('../../dist/testing/index.js', import.meta.url);
  return (await import(fileURLToPath(built))) as Testing;
}

export const broken = new URL('./machines/broken.mjs', import.meta.url);

/** What a promise was rejected with; fails where it was not. */
export async function errorOf<E extends Error>(promise: Promise<unknown>): Promise<E> {
  const answer = await promise.then(
    (value) => ({ value }),
    (error: E) => ({ error }),
  );
  if ('error' in answer) return answer.error;
  throw new Error(`nothing was thrown; it answered ${JSON.stringify(answer.value)}`);
}

export function linesOf(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split('\n').slice(0, -1);
  } catch {
    return [];
  }
}
