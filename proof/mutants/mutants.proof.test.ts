/** The planted bugs themselves: all of them fit, and those whose turn it is today are caught. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { hunt } from './hunt.ts';
import { MUTANTS } from './list.ts';
import { patched } from './patch.ts';
import { dayOf, rotation } from './rotation.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const ROTATION_COUNT = 5;
const QUICK = MUTANTS.filter(({ isSlow }) => !isSlow);
/** Another day may be asked for, to see what it has found again. */
const DAY = Number(process.env['FLEETQ_MUTANTS_DAY'] ?? dayOf(Date.now()));

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

test(`the mutants of day ${DAY} are caught`, { timeout: 600_000 }, async () => {
  const mutants = rotation(QUICK, ROTATION_COUNT, DAY);
  const findings = await hunt({ root: ROOT, mutants, secondsMax: 120 });
  for (const { name, verdict, seconds, because } of findings) {
    console.log(`${name}: ${verdict} in ${seconds} s: ${because}`);
  }
  expect(findings.filter(({ verdict }) => verdict !== 'caught')).toEqual([]);
  expect(findings).toHaveLength(ROTATION_COUNT);
});
