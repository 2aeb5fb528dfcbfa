/** The pictures in the docs: of every page that there is, in both themes, and shown to somebody. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const read = (path: string) => readFileSync(root + path, 'utf8');

/** What the page of one is called, where a list leads to such a page. */
const ONE: Readonly<Record<string, string>> = {
  runs: 'run-failed',
  errors: 'error',
  machines: 'machine',
  pods: 'pod',
  schedules: 'schedule',
  throttles: 'throttle',
  bulk: 'bulk-operation',
};

test('every page has its picture in both themes, and the docs show it', () => {
  const pages = read('admin-ui/src/pages/pages.tsx');
  const lists = [...pages.matchAll(/to: '\/([a-z-]+)'/g)].map(([, name]) => name!);
  expect(lists.length).toBeGreaterThan(8);
  expect(Object.keys(ONE)).toHaveLength([...pages.matchAll(/^ {4}one: /gm)].length);
  const names = [
    ...lists,
    ...lists.flatMap((list) => ONE[list] ?? []),
    'run-rescued',
    'compare',
    'palette',
  ];
  const wanted = names.flatMap((name) => [`${name}-light.png`, `${name}-dark.png`]);
  const there = readdirSync(`${root}docs/images`);
  expect(wanted.filter((file) => !there.includes(file))).toEqual([]);
  const shown = read('docs/how-to/use-the-pages.md');
  expect(wanted.filter((file) => !shown.includes(`(../images/${file})`))).toEqual([]);
  const readme = read('README.md');
  expect(wanted.filter((file) => readme.includes(`docs/images/${file}`)).length).toBeGreaterThan(1);
});
