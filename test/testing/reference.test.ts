/** The API page has everything that fleetq/testing exports, every option, and every field of a report. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import * as testing from '../../src/testing/index.ts';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const page = read('docs/reference/api.md')
  .split(/^## /m)
  .find((part) => /^Test machines/.test(part))!;
const isOnPage = (name: string) => new RegExp(`\`${name}\\b`).test(page);

/** The properties of an interface, from its source. */
function fieldsOf(file: string, name: string): string[] {
  const text = read(`src/testing/${file}`);
  const from = text.search(new RegExp(`export interface ${name}\\b`));
  const body = text.slice(from, text.indexOf('\n}', from));
  return [...body.matchAll(/^ {2}readonly (\w+)\??:/gm)].map((match) => match[1]!);
}

test('every export is on the page', () => {
  const exported = [...read('src/testing/index.ts').matchAll(/\{([^}]*)\}/g)].flatMap((match) =>
    match[1]!.split(',').map((name) => name.trim().replace('type ', '')),
  );
  expect(exported).toEqual(expect.arrayContaining(Object.keys(testing)));
  expect(exported.length).toBeGreaterThan(10);
  expect(exported.filter((name) => !isOnPage(name))).toEqual([]);
});

test('every option and every field is on the page', () => {
  const names = [
    ...fieldsOf('crash-options.ts', 'CrashTestOptions'),
    ...fieldsOf('crash-options.ts', 'CrashPlace'),
    ...fieldsOf('crash-options.ts', 'EndedCase'),
    ...fieldsOf('report.ts', 'CrashReport'),
    ...fieldsOf('report.ts', 'CrashFault'),
  ];
  expect(names.length).toBeGreaterThan(25);
  expect(names.filter((name) => !isOnPage(name))).toEqual([]);
});

test('every kind of fault is told on the page that shows how', () => {
  const source = read('src/testing/report.ts');
  const from = source.indexOf('type FaultKind');
  const union = source.slice(from, source.indexOf(';', from));
  const kinds = [...union.matchAll(/\| '(\w+)'/g)].map((match) => match[1]!);
  const how = read('docs/how-to/test-your-machine.md');
  expect(kinds.length).toBeGreaterThan(7);
  expect(kinds.filter((kind) => !how.includes(`\`${kind}\``))).toEqual([]);
});
