/**
 * The names that fragments in the pages may use without importing them: FleetQ's own, zod, and a few
 * services that stand for the reader's. Kept as text, so that they are globals of the pages alone.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './markdown.ts';

const SERVICES = `
  const fleet: import('fleetq').Fleet;
  const z: typeof import('zod');
  const order: import('fleetq').Machine<{ id: string }, { receipt: string }, 'order'>;
  const run: import('fleetq').Run<{ receipt: string }>;
  const payments: {
    find(reference: string): Promise<{ id: string } | undefined>;
    charge(cents: number, options: { idempotencyKey: string; signal?: AbortSignal }): Promise<{ id: string }>;
  };
  const registers: {
    put(key: string, value: string, options: { fencingToken: number }): Promise<void>;
  };
  const secret: string;
`;

export function fragmentContext(): string {
  const values = exportedNames().values.map(
    (name) => `  const ${name}: typeof import('fleetq').${name};`,
  );
  return `declare global {\n${values.join('\n')}\n${SERVICES}}\nexport {};\n`;
}

/** What `src/index.ts` exports, told apart by whether it is there at run time. */
export function exportedNames(): { readonly values: string[]; readonly types: string[] } {
  const text = readFileSync(join(ROOT, 'src/index.ts'), 'utf8');
  const values: string[] = [];
  const types: string[] = [];
  for (const [, isType, list = ''] of text.matchAll(/export (type )?\{([^}]*)\}/g)) {
    for (const entry of list.split(',').map((each) => each.trim())) {
      if (entry === '') continue;
      if (isType || entry.startsWith('type ')) types.push(entry.replace('type ', ''));
      else values.push(entry);
    }
  }
  return { values: values.sort(), types: types.sort() };
}
