/** Every planted bug fits the source as it is, and its command is there. Whether it is caught: npm run mutants. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { MUTANTS } from './list.ts';
import { patched } from './patch.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

test('every mutant has a name of its own, and fits the source as it is', () => {
  expect(new Set(MUTANTS.map(({ name }) => name)).size).toBe(MUTANTS.length);
  const unfit: string[] = [];
  for (const { name, changes } of MUTANTS) {
    expect(changes.length, name).toBeGreaterThan(0);
    const texts = new Map<string, string>();
    for (const change of changes) {
      try {
        const text = texts.get(change.file) ?? readFileSync(join(ROOT, change.file), 'utf8');
        texts.set(change.file, patched(text, change));
      } catch (error) {
        unfit.push(`${name}: ${(error as Error).message}`);
      }
    }
  }
  expect(unfit).toEqual([]);
});

test('every command names a file that is there', () => {
  const files = MUTANTS.map(({ command }) =>
    command.kind === 'test' ? command.file : command.program,
  );
  expect(files.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
});
