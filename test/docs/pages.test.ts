/** What the pages list is what the code has: errors, events, exports, options. And links lead somewhere. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { Command } from 'commander';
import { expect, test } from 'vitest';
import { ROUTES } from '../../src/admin/routes/index.ts';
import { PREFIX } from '../../src/admin/table.ts';
import { Exit } from '../../src/cli/exit.ts';
import { buildProgram } from '../../src/cli/program.ts';
import { SETTING_NAMES, variableOf } from '../../src/config/index.ts';
import { exportedNames } from './fragment-context.ts';
import { headingsOf, linksOf, pages, ROOT, readPage } from './markdown.ts';

function source(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8');
}

const sources = readdirSync(join(ROOT, 'src'), { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
  .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)));

/** The rows of a page's tables, each as its cells without backticks. */
function rowsOf(page: string): string[][] {
  return readPage(page)
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map((line) => line.split(/(?<!\\)\|/).slice(1, -1))
    .map((cells) => cells.map((cell) => cell.trim().replaceAll('`', '')));
}

/** The text between the braces that open after `head`. */
function bodyOf(text: string, head: string): string {
  const from = text.indexOf(head);
  if (from < 0) throw new Error(`there is no ${head}`);
  return text.slice(from, text.indexOf('\n}', from));
}

test('every relative link leads to a file and to a heading in it', () => {
  const broken = pages().flatMap((page) =>
    linksOf(page)
      .filter(({ path, heading }) => {
        const target = path === '' ? page : join(dirname(page), path);
        if (!existsSync(join(ROOT, target))) return true;
        return heading !== '' && !headingsOf(target).includes(heading);
      })
      .map(({ path, heading }) => `${page}: ${path}#${heading}`),
  );
  expect(broken).toEqual([]);
});

test('the errors page has every code, and only codes that exist', () => {
  // Settings are named FLEETQ_… too, as environment variables are.
  const inSource = sources
    .filter((file) => !file.startsWith('src/config/') || file.endsWith('errors.ts'))
    .flatMap((file) =>
      [...source(file).matchAll(/(?<!VARIABLE = )'(FLEETQ_[A-Z_]*[A-Z])'/g)].map(
        (match) => match[1]!,
      ),
    );
  const onPage = rowsOf('docs/reference/errors.md')
    .map(([code = '']) => code)
    .filter((cell) => cell.startsWith('FLEETQ_'));
  expect([...onPage].sort()).toEqual([...new Set(inSource)].sort());
});

test('the errors page gives every error the verdict that it has, and its class if it is exported', () => {
  const { values } = exportedNames();
  const wrong: string[] = [];
  const rows = new Map(rowsOf('docs/reference/errors.md').map((row) => [row[0]!, row]));
  const declared =
    /class (\w+) extends \w+ \{\s*readonly code = '(FLEETQ_\w+)';\s*(?:readonly verdict = '(\w+)')?/g;
  for (const file of sources) {
    for (const [, name, code, verdict] of source(file).matchAll(declared)) {
      const [, shownName, shownVerdict] = rows.get(code!) ?? [];
      // One code may be that of two classes: the same fact, found out in two places.
      const isShown = shownName?.split(', ').includes(values.includes(name!) ? name! : '');
      if (!isShown) wrong.push(`${code} is ${name}`);
      if (shownVerdict !== (verdict ?? 'abort')) wrong.push(`${code} means ${verdict}`);
    }
  }
  expect(wrong).toEqual([]);
});

test('the events page has every event and every field of its own', () => {
  const body = [
    bodyOf(
      source('src/telemetry/events.ts'),
      'export interface FleetqEvents extends FleetEvents {',
    ),
    bodyOf(source('src/telemetry/fleet-events.ts'), 'export interface FleetEvents {'),
  ].join('\n');
  const inSource = new Map<string, string[]>();
  for (const part of body.split(/^ {2}'/m).slice(1)) {
    const name = part.slice(0, part.indexOf("'"));
    inSource.set(name, [...part.matchAll(/readonly (\w+)\??:/g)].map((match) => match[1]!).sort());
  }
  const onPage = new Map<string, string[]>();
  for (const [name = '', , fields = ''] of rowsOf('docs/reference/events.md')) {
    if (!/^\w+\.\w+$/.test(name)) continue;
    onPage.set(
      name,
      fields
        .split(/[,:] /)
        .filter((word) => /^\w+$/.test(word))
        .sort(),
    );
  }
  expect(inSource.size).toBeGreaterThan(20);
  expect(Object.fromEntries(onPage)).toEqual(Object.fromEntries(inSource));
});

test('the API page names everything that the package exports', () => {
  const page = readPage('docs/reference/api.md');
  const { values, types } = exportedNames();
  const missing = [...values, ...types].filter((name) => !new RegExp(`\`${name}\\b`).test(page));
  expect(values.length + types.length).toBeGreaterThan(60);
  expect(missing).toEqual([]);
});

/** Interfaces whose every property the API page has to name. */
const LISTED = [
  ['src/assemble.ts', 'FleetOptions'],
  ['src/handles.ts', 'StartOptions'],
  ['src/handles.ts', 'EnqueueOptions extends StartOptions'],
  ['src/handles.ts', 'WaitOptions'],
  ['src/handles.ts', 'FleetStatus'],
  ['src/fleet/pod.ts', 'PodStatus'],
  ['src/process.ts', 'GovernOptions'],
  ['src/engine/options.ts', 'DrainReport'],
  ['src/engine/canceller.ts', 'CancelReport'],
  ['src/engine/summary.ts', 'RunSummary'],
  ['src/machine/types.ts', 'StepContext<I, S>'],
] as const;

test('the API page lists every option, every field, and everything a fleet can do', () => {
  const page = readPage('docs/reference/api.md');
  const fields = LISTED.flatMap(([file, name]) => [
    ...bodyOf(source(file), `export interface ${name} `).matchAll(/^ {2}readonly (\w+)\??:/gm),
  ]);
  const methods = bodyOf(source('src/main.ts'), 'export class Fleet ').matchAll(
    /^ {2}(?:async |get )?(?!constructor)([a-z]\w*)[<(]/gm,
  );
  const names = [...fields, ...methods].map((match) => match[1]!);
  expect(names.length).toBeGreaterThan(60);
  expect(names.filter((name) => !new RegExp(`\`(fleet\\.)?${name}\\b`).test(page))).toEqual([]);
});

test('the page of the tables has every table and view, and every column that is in use', () => {
  const sections = new Map(
    readPage('docs/reference/tables.md')
      .split(/^#{2,3} /m)
      .map((text) => [text.split('\n')[0]!.replaceAll('`', ''), text]),
  );
  const migrations = readdirSync(join(ROOT, 'migrations/postgres')).map((file) =>
    source(`migrations/postgres/${file}`),
  );
  const missing: string[] = [];
  const tables = migrations.flatMap((text) => [
    ...text.matchAll(/^create table (\w+) \(\n([\s\S]*?)^\)/gm),
  ]);
  for (const [, table, body] of tables) {
    const title = [...sections.keys()].find((words) => words.split(', ').includes(table!));
    if (title === undefined) missing.push(table!);
    // Several in one section: those that nobody uses yet.
    if (title !== table) continue;
    const columns = [...body!.matchAll(/^ {2}(?!constraint|primary|check)(\w+) +\w/gm)];
    for (const [, column] of columns) {
      if (!sections.get(title!)!.includes(`\`${column}\``)) missing.push(`${table}.${column}`);
    }
  }
  const views = migrations.flatMap((text) => [...text.matchAll(/^create view (\w+)/gm)]);
  const shown = rowsOf('docs/reference/tables.md').map(([cell]) => cell);
  missing.push(...views.map((match) => match[1]!).filter((view) => !shown.includes(view)));
  expect(tables.length).toBeGreaterThan(5);
  expect(views.length).toBeGreaterThan(2);
  expect(missing).toEqual([]);
});

test('the page of the command line has every command with its options', () => {
  const page = readPage('docs/reference/cli.md');
  const sections = new Map(page.split(/^## /m).map((text) => [text.split('\n')[0]!, text]));
  const missing: string[] = [];
  const visit = (command: Command, path: string) => {
    const section = sections.get(`\`${path}\``);
    if (section === undefined) return void missing.push(path);
    for (const { long } of command.options) {
      if (!section.includes(`\`${long}`)) missing.push(`${path} ${long}`);
    }
    for (const child of command.commands) {
      const isThere = (text: string) => section.includes(`\`${text}`);
      if (!isThere(`${path} ${child.name()}`)) missing.push(`${path} ${child.name()}`);
      for (const { long } of child.options) {
        if (!isThere(`${long}`)) missing.push(`${path} ${child.name()} ${long}`);
      }
    }
  };
  const program = buildProgram(() => undefined);
  for (const command of program.commands) visit(command, `fleetq ${command.name()}`);
  expect(missing).toEqual([]);
  const shown = [...sections.keys()].filter((title) => title.startsWith('`fleetq'));
  expect(shown.sort()).toEqual(program.commands.map((each) => `\`fleetq ${each.name()}\``).sort());
});

test('the page of the command line has every exit code, setting and route', () => {
  const rows = rowsOf('docs/reference/cli.md');
  const firsts = rows.map(([cell]) => cell!);
  const codes = firsts.filter((cell) => /^\d+$/.test(cell)).map(Number);
  expect(codes).toEqual(Object.values(Exit).sort((a, b) => a - b));
  const settings = rows.filter(([, cell]) => cell?.startsWith('FLEETQ_'));
  expect(settings.map(([name, variable]) => [name, variable])).toEqual(
    SETTING_NAMES.map((name) => [name, variableOf(name)]),
  );
});

test('the page of the HTTP API is the table of routes', () => {
  const told = rowsOf('docs/reference/http.md')
    .filter(([cell = '']) => /^(GET|POST|DELETE) /.test(cell))
    .map(([what, role, summary]) => [what, role, summary]);
  const wanted = ROUTES.map(({ method, path, role, summary }) => [
    `${method} ${PREFIX}${path}`,
    role,
    summary.replaceAll('`', ''),
  ]);
  expect(told).toEqual(wanted);
});
