/** `npm run build` in a copy of the tree: what is built when, also by two at the same time. */
import { cpSync, existsSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { ROOT } from '../docs/markdown.ts';
import { run } from '../docs/workspace.ts';
import { useTempDirs } from '../support/temp-dir.ts';

const SOURCES = [
  ...['src', 'machines', 'admin-ui', 'tools', 'package.json', 'package-lock.json'],
  ...['tsconfig.json', 'tsconfig.build.json'],
];
const newDir = useTempDirs();
let tree: string;

beforeAll(() => {
  tree = newDir('tree');
  for (const path of SOURCES) cpSync(join(ROOT, path), join(tree, path), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(tree, 'node_modules'));
});

const build = () => run(tree, process.execPath, ['tools/build.mjs']);
const at = (path: string) => join(tree, path);

test('two builds at the same time make every part once, and the next one makes nothing', async () => {
  const ends = await Promise.all([build(), build()]);
  expect(ends.map(({ code }) => code)).toEqual([0, 0]);
  const said = ends.map(({ stderr }) => stderr).sort();
  expect(said).toEqual(['', 'building library, machines, admin-ui\n']);
  for (const file of ['bin.js', 'index.d.ts', 'machines/index.js', 'admin-ui/index.html']) {
    expect(existsSync(at(`dist/${file}`)), file).toBe(true);
  }
  expect(await build()).toMatchObject({ code: 0, stdout: '', stderr: '' });
});

test('a change makes the parts that it is a source of, and leaves the others', async () => {
  writeFileSync(at('machines/more.ts'), 'export const more = 1;\n');
  expect((await build()).stderr).toBe('building machines\n');
  expect(existsSync(at('dist/machines/more.js'))).toBe(true);

  rmSync(at('machines/more.ts'));
  expect((await build()).stderr).toBe('building machines\n');
  expect(existsSync(at('dist/machines/more.js'))).toBe(false);

  rmSync(at('dist/admin-ui'), { recursive: true });
  expect((await build()).stderr).toBe('building admin-ui\n');
});

test('a build that failed is made again, and is said to have failed until it works', async () => {
  writeFileSync(at('machines/wrong.ts'), 'export const wrong: number = "text";\n');
  for (const _ of [1, 2]) {
    const { code, stderr } = await build();
    expect(code).toBe(1);
    expect(stderr).toMatch(/machines\/wrong\.ts.*error TS2322/);
    expect(stderr).toMatch(/the build failed: .*machines/);
  }
  rmSync(at('machines/wrong.ts'));
  expect(await build()).toMatchObject({ code: 0, stderr: 'building machines\n' });
});
