/** The house rules that a test can keep: who may import whom, how large files grow, whose time it is. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));

function filesUnder(directory: string, pattern: RegExp): string[] {
  return readdirSync(join(root, directory), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && pattern.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .filter((file) => !file.includes('node_modules'))
    .sort();
}

function read(file: string): string {
  return readFileSync(join(root, file), 'utf8');
}

/** Text without comments and strings, so that prose may speak of what code may not do. */
function codeOf(file: string): string {
  return read(file)
    .replaceAll(/\/\*[\s\S]*?\*\//g, '')
    .replaceAll(/(^|\s)\/\/[^\n]*/g, '$1')
    .replaceAll(/'(?:[^'\\\n]|\\.)*'/g, "''");
}

const sources = filesUnder('src', /\.ts$/);
const machines = filesUnder('machines', /\.ts$/);
const pages = filesUnder('admin-ui/src', /\.tsx?$/);

/**
 * Rooms by rank; an import goes down, or stays in its room. The event types stand one above the
 * machine room, whose words they use; everything that happens above may publish.
 */
const RANKS: readonly (readonly [RegExp, number])[] = [
  [/^src\/ground\//, 0],
  [/^src\/(config|machine|query)\//, 1],
  [/^src\/telemetry\/(events|event-parts|fleet-events)\.ts$/, 2],
  [/^src\/(journal|throttle|store)\//, 2],
  [/^src\/engine\//, 3],
  [/^src\/fleet\//, 4],
  [/^src\/sessions\//, 5],
  [/^src\/(admin|telemetry)\//, 6],
  [/^src\/(cli\/|testing\/|[a-z-]+\.ts$)/, 7],
];

function rankOf(file: string): number {
  const rank = RANKS.find(([pattern]) => pattern.test(file))?.[1];
  if (rank === undefined) throw new Error(`${file} belongs to no room`);
  return rank;
}

function roomOf(file: string): string {
  return file.split('/').slice(0, 2).join('/');
}

interface Import {
  readonly from: string;
  readonly to: string;
}

function importsOf(file: string): Import[] {
  const specifiers = [...read(file).matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)].map(
    (match) => match[1]!,
  );
  return specifiers.map((specifier) => ({
    from: file,
    to: join(file, '..', specifier).split(sep).join('/'),
  }));
}

function climbs({ from, to }: Import): boolean {
  const [fromRank, toRank] = [rankOf(from), rankOf(to)];
  if (roomOf(from) === roomOf(to) && !/telemetry/.test(from)) return false;
  // The top rank is one floor: the command line, the composition root and the public face.
  if (fromRank === 7 && toRank === 7) return false;
  return toRank > fromRank || (toRank === fromRank && roomOf(from) !== roomOf(to));
}

test('no import climbs: a room imports only rooms of a lower rank', () => {
  const climbing = sources
    .flatMap(importsOf)
    .filter((found) => found.to.startsWith('src/') && climbs(found));
  expect(climbing).toEqual([]);
});

/** The event types, and what throws before an index is loaded. */
const ASIDE_FROM_INDEX = ['src/telemetry/events.ts', 'src/ground/refuse-old-node.ts'];

test('a room is entered by its index, with two exceptions', () => {
  const broken = sources
    .flatMap(importsOf)
    .filter(({ from, to }) => roomOf(from) !== roomOf(to) && /^src\/[a-z]+\//.test(to))
    .filter(({ to }) => !to.endsWith('/index.ts') && !ASIDE_FROM_INDEX.includes(to))
    .filter(({ from }) => rankOf(from) < 7);
  expect(broken).toEqual([]);
});

test('one file is the door to SQLite', () => {
  const importers = sources.filter((file) => /['"]better-sqlite3/.test(read(file)));
  expect(importers).toEqual(['src/ground/sqlite.ts']);
});

test('machines import only the public API, packages, and each other', () => {
  const outside = machines.flatMap(importsOf).filter(({ to }) => !to.startsWith('machines/'));
  expect(outside).toEqual([]);
});

test('outside the ground, time and randomness are arguments', () => {
  const forbidden =
    /Date\.now|new Date\(|Math\.random|\bsetTimeout\b|\bsetInterval\b|\bsetImmediate\b|performance\.now|\bhrtime\b|\brandomUUID\b|\bulid\(|AbortSignal\.timeout/;
  const found = sources
    .filter((file) => !file.startsWith('src/ground/'))
    .flatMap((file) =>
      codeOf(file)
        .split('\n')
        .filter((line) => forbidden.test(line))
        .map((line) => `${file}: ${line.trim()}`),
    );
  expect(found).toEqual([]);
});

test('pages know time and randomness from one place, and put no markup together from text', () => {
  const forbidden =
    /Date\.now|new Date\(|Math\.random|\bset(Timeout|Interval)\b|performance\.now|getRandomValues|randomUUID/;
  const wild =
    /dangerouslySetInnerHTML|innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(/;
  const found = pages.flatMap((file) =>
    codeOf(file)
      .split('\n')
      .filter((line) => wild.test(line) || (forbidden.test(line) && !isPlatform(file)))
      .map((line) => `${file}: ${line.trim()}`),
  );
  expect(found).toEqual([]);
});

function isPlatform(file: string): boolean {
  return file.startsWith('admin-ui/src/platform/');
}

test('of the server, pages take the grammar of filters and what it stands on', () => {
  const outside = pages
    .flatMap(importsOf)
    .filter(({ to }) => !to.startsWith('admin-ui/') && !/^src\/(query|ground)\//.test(to));
  expect(outside).toEqual([]);
});

test('files stay small: 300 lines, 100 columns', () => {
  const long = [...sources, ...machines, ...pages].filter(
    (file) => read(file).split('\n').length > 301,
  );
  expect(long).toEqual([]);
  const wide = [...sources, ...machines, ...pages].flatMap((file) =>
    read(file)
      .split('\n')
      .map((line, index) => ({ at: `${file}:${index + 1}`, columns: [...line].length }))
      .filter(({ columns }) => columns > 110),
  );
  expect(wide).toEqual([]);
});

test('every source file says first what it is for', () => {
  const silent = [...sources, ...machines, ...pages].filter(
    (file) => !/^(#!.*\n)?\/\*\*/.test(read(file)),
  );
  expect(silent).toEqual([]);
});

test('no default exports, enums, namespaces or open ends', () => {
  const found = [...sources, ...machines, ...pages].flatMap((file) =>
    codeOf(file)
      .split('\n')
      .filter((line) =>
        /^export default|^\s*(export )?(const )?enum |^\s*(export )?namespace |\bas any\b|: any\b/.test(
          line,
        ),
      )
      .map((line) => `${file}: ${line.trim()}`),
  );
  const open = [...sources, ...machines, ...filesUnder('test', /\.ts$/)].filter((file) =>
    new RegExp(`\\b(${['TO', 'DO'].join('')}|${['FIX', 'ME'].join('')})\\b`).test(read(file)),
  );
  expect([...found, ...open]).toEqual([]);
});

test('a unit test starts no process: one that does is an e2e test', () => {
  const units = ['test', 'proof']
    .flatMap((room) => filesUnder(room, /\.test\.ts$/))
    .filter((file) => !/\.(store|e2e|ui|proof)\.test\.ts$/.test(file));
  const starting = units.filter((file) => /from 'node:(child_process|cluster)'/.test(read(file)));
  expect(starting).toEqual([]);
});

test('the lock file names no download addresses', () => {
  expect(read('package-lock.json')).not.toMatch(/"resolved": "(?!tools\/)/);
});
