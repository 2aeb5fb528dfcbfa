/** One call of the command line in process: its streams, its terminal, and what calls do not share. */
import { stripVTControlCharacters } from 'node:util';
import { beforeAll, expect, test } from 'vitest';
import { fleetq, usePlaces } from './in-process.ts';

const { makeDirectory } = usePlaces();
const QUICK = ['start', 'test/quick', '--input', '{"n":1}', '--wait'];

let cwd: string;
beforeAll(async () => {
  cwd = makeDirectory();
  expect((await fleetq(cwd, QUICK)).code).toBe(0);
});

test('a pipe gets tabs and no head; a terminal a table that fits it, in colours', async () => {
  const { stdout: piped } = await fleetq(cwd, ['runs']);
  expect(piped).toMatch(/^\w{26}\ttest\/quick@1\t.*completed.*\n$/);
  const { stdout: shown, stderr } = await fleetq(cwd, ['runs'], { columns: 76 });
  const [head, row, ...rest] = stripVTControlCharacters(shown).split('\n');
  expect(head).toMatch(/^RUN +MACHINE +/);
  expect(row).toMatch(/test\/qu.*completed/);
  expect(rest).toEqual(['']);
  for (const line of [head!, row!]) expect(line.length).toBeLessThanOrEqual(76);
  for (const text of [shown, stderr]) expect(text).toContain('\u001b[');
});

test('NO_COLOR and FORCE_COLOR are heeded', async () => {
  const colourOf = async (env: Readonly<Record<string, string>>, columns?: number) => {
    const { stderr } = await fleetq(cwd, ['runs'], { env, ...(columns ? { columns } : {}) });
    return stderr.includes('\u001b[');
  };
  expect(await colourOf({ NO_COLOR: '1' }, 60)).toBe(false);
  expect(await colourOf({ FORCE_COLOR: '0' }, 60)).toBe(false);
  expect(await colourOf({ FORCE_COLOR: '1' })).toBe(true);
});

test('JSON is on one line for programs, and indented for people', async () => {
  const { stdout: piped } = await fleetq(cwd, ['runs', '--json']);
  expect(piped.trimEnd().split('\n')).toHaveLength(1);
  const { stdout: shown } = await fleetq(cwd, ['runs', '--json'], { columns: 60 });
  expect(shown).toMatch(/^\{\n {2}"runs": \[\n/);
  expect(JSON.parse(shown)).toEqual(JSON.parse(piped));
});

test('help is as wide as the terminal, on stdout where it is asked for and on stderr where not', async () => {
  const asked = await fleetq(cwd, ['bulk', '--help'], { columns: 60 });
  expect([asked.code, asked.stderr]).toEqual([0, '']);
  const lines = asked.stdout.split('\n').filter((line) => !line.startsWith('  '));
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(60);
  const needed = await fleetq(cwd, []);
  expect([needed.code, needed.stdout]).toEqual([2, '']);
  expect(needed.stderr).toMatch(/^Usage: fleetq/);
});

test('calls side by side share nothing, and leave nothing behind', async () => {
  const listeners = () => process.eventNames().map((name) => [name, process.listenerCount(name)]);
  const before = listeners();
  const places = Array.from({ length: 8 }, makeDirectory);
  const ended = await Promise.all(
    places.map((place, n) => {
      const env = n % 2 === 0 ? {} : { FLEETQ_DATA_DIR: `data-${n}` };
      return fleetq(place, ['start', 'test/quick', '--input', `{"n":${n}}`, '--wait'], { env });
    }),
  );
  expect(ended.map(({ code, stdout }) => [code, JSON.parse(stdout)])).toEqual(
    places.map((_, n) => [0, { doubled: 2 * n }]),
  );
  const [first, second] = await Promise.all(
    [places[0]!, places[1]!].map((place) => fleetq(place, ['runs', '--json'])),
  );
  expect([first!.code, second!.code]).toEqual([0, 3]);
  expect(listeners()).toEqual(before);
  expect(process.exitCode).toBeUndefined();
});
