/** A project of one's own with one machine, for tests that change its code. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** A project whose machine says what its code says; what it says is in a file that it imports. */
export function makeProject(cwd: string): {
  readonly cwd: string;
  say(word: string): void;
  save(code: string): void;
} {
  mkdirSync(join(cwd, 'machines'));
  mkdirSync(join(cwd, 'node_modules'));
  symlinkSync(ROOT, join(cwd, 'node_modules', 'fleetq'));
  symlinkSync(join(ROOT, 'node_modules', 'zod'), join(cwd, 'node_modules', 'zod'));
  const say = (word: string) =>
    writeFileSync(join(cwd, 'word.mjs'), `export const word = '${word}';\n`);
  const save = (code: string) => writeFileSync(join(cwd, 'machines', 'talk.mjs'), code);
  say('first');
  save(TALK);
  return { cwd, say, save };
}

export const TALK = `
import { existsSync, writeFileSync } from 'node:fs';
import { defineMachine } from 'fleetq';
import * as z from 'zod';
import { word } from '../word.mjs';
export const talk = defineMachine({
  name: 'talk', version: 1, input: z.object({ gate: z.string().optional() }), check: 'none',
  work: async ({ input }) => {
    if (input.gate) writeFileSync(input.gate + '.in', word);
    while (input.gate && !existsSync(input.gate)) await new Promise((go) => setTimeout(go, 5));
    return word;
  },
  persist: ({ work }) => [work, word],
});
`;
