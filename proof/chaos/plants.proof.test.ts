/** Every bug that can be planted for a chaos run finds its place in the modules as they are compiled now. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { removeTree } from '../../test/support/remove-tree.ts';
import { compilePackage } from './build.ts';
import { PLANTS } from './plants.ts';

let place: string;
beforeAll(() => {
  place = compilePackage(undefined);
});
afterAll(() => removeTree(place));

test.each(Object.entries(PLANTS))('%s finds its place', (_, { changes }) => {
  for (const [file, find] of changes)
    expect(readFileSync(join(place, 'dist', file), 'utf8')).toContain(find);
});
