/** Every bug that can be planted for a chaos run finds its place in the package as it is built now. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { PLANTS } from './plants.ts';

const DIST = new URL('../../dist/', import.meta.url);

test.each(Object.entries(PLANTS))('%s finds its place', (_, { changes }) => {
  for (const [file, find] of changes)
    expect(readFileSync(new URL(file, DIST), 'utf8')).toContain(find);
});
