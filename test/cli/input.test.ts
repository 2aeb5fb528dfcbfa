/** Inputs as they come from files and stdin: read with a bound, and never changed on the way. */
import { createReadStream, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { Lines } from '../../src/cli/fleet/jsonl.ts';
import { INPUT_BYTES_MAX, readInput, readRetriesMax } from '../../src/cli/input.ts';
import { useTempDirs } from '../support/temp-dir.ts';
import { fleetq, usePlaces } from './in-process.ts';

const newDir = useTempDirs();
const { makeDirectory } = usePlaces();
const from = { stdin: Readable.from([]), cwd: '/' };
const read = (text: string) => readInput(text, from);
/** In Latin-1, as an old editor saves it. */
const LATIN1 = Buffer.from('{"name":"Zo\u00eb"}', 'latin1');

function fileOf(content: string | Buffer): string {
  const file = newDir('input.json');
  writeFileSync(file, content);
  return file;
}

describe('a file', () => {
  test('is read as UTF-8, with or without a mark of that in front', async () => {
    expect(await read(`@${fileOf('{"name":"Zoë"}')}`)).toEqual({ name: 'Zoë' });
    expect(await read(`@${fileOf('\ufeff{"name":"Zoë"}')}`)).toEqual({ name: 'Zoë' });
  });

  test('whose bytes are no text is refused', async () => {
    await expect(read(`@${fileOf(LATIN1)}`)).rejects.toMatchObject({
      code: 'FLEETQ_USAGE',
      message: expect.stringMatching(/the input in @.* is not UTF-8/),
      hint: expect.stringContaining('iconv'),
    });
  });

  test('that is too large is refused', async () => {
    const file = fileOf('[');
    truncateSync(file, INPUT_BYTES_MAX + 1);
    await expect(read(`@${file}`)).rejects.toThrow(`larger than ${INPUT_BYTES_MAX} bytes`);
  });
});

describe('stdin', () => {
  test.each(['-', '@/dev/stdin'])(
    'by the name %s is read, and refused where it is no text',
    async (name) => {
      const cwd = makeDirectory();
      const args = ['start', 'test/quick', '--input', name];
      expect(await fleetq(cwd, args, { input: '{"n":1}' })).toMatchObject({ code: 0 });
      const refused = await fleetq(cwd, args, { input: LATIN1 });
      expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('is not UTF-8') });
    },
  );

  test('without an end is given up at the bound', async () => {
    const input = createReadStream('/dev/zero');
    expect(await fleetq(makeDirectory(), ['start', 'm', '--input', '-'], { input })).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/the input in - is larger than \d+ bytes/),
    });
    expect(input.destroyed).toBe(true);
  });

  test('a relative path is meant from where the command is called', async () => {
    const cwd = makeDirectory();
    writeFileSync(join(cwd, 'input.json'), '{"n":"x"}');
    const args = ['start', 'test/quick', '--input', '@input.json'];
    expect(await fleetq(cwd, args)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('does not fit'),
    });
  });
});

describe('a file of many', () => {
  async function linesOf(file: string): Promise<unknown[]> {
    const inputs: unknown[] = [];
    const words = { keyMs: 0, priority: undefined, due: undefined, queue: undefined };
    for await (const { input } of new Lines(file, words, from).read(undefined)) inputs.push(input);
    return inputs;
  }

  test('says which run a line follows, and is refused where that makes no sense', async () => {
    const words = { keyMs: 0, due: { afterMs: 5 } };
    const optionsOf = async (line: object, of: object = { keyMs: 0 }) => {
      const file = fileOf(JSON.stringify({ input: 1, ...line }));
      const lines = new Lines(file, of as typeof words, from).read(undefined);
      return (await lines.next()).value.options;
    };
    const after = '01ARZ3NDEKTSV4RRFFQ69G5FAV';
    expect(await optionsOf({ after })).toMatchObject({ follows: { run: after, on: 'success' } });
    expect((await optionsOf({ after, on: 'end' })).follows).toEqual({ run: after, on: 'end' });
    expect((await optionsOf({}, words)).follows).toBeUndefined();
    expect((await optionsOf({ retriesMax: 3 })).retriesMax).toBe(3);
    expect((await optionsOf({}, { keyMs: 0, retriesMax: 2 })).retriesMax).toBe(2);
    expect(readRetriesMax('7')).toBe(7);
    expect(() => readRetriesMax('many')).toThrow(/--retries-max must be a whole number from 1/);
    for (const [line, of, message] of [
      [{ retriesMax: 0 }, undefined, /line 1: retriesMax must be a whole number from 1 to 1000000/],
      [{ on: 'end' }, undefined, /line 1: on says when it follows a run: give after too/],
      [{ after, on: 'never' }, undefined, /line 1: on wants success or end, got "never"/],
      [{ after, serialKey: 'a' }, undefined, /after and serialKey cannot be given together/],
      [{ after }, words, /after and runAt cannot be given together/],
      [{ after: 7 }, undefined, /after must be text/],
      [{ key: 'schedule/a/b' }, undefined, /line 1: key must not begin with schedule\//],
      [{ queue: '\udc00' }, undefined, /line 1: queue must be text without NUL and halves/],
    ] as const) {
      await expect(optionsOf(line, of), JSON.stringify(line)).rejects.toThrow(message);
    }
  });

  test('keeps letters that a chunk of the file cuts in two', async () => {
    const letters = 'ë'.repeat(100_000);
    const line = JSON.stringify({ input: letters });
    expect(await linesOf(fileOf(`${line}\n${line} \n`))).toEqual([letters, letters]);
  });

  test('whose bytes are no text is refused', async () => {
    const line = Buffer.concat([Buffer.from('{"input":'), LATIN1, Buffer.from('}\n')]);
    await expect(linesOf(fileOf(line))).rejects.toThrow(/the file is not UTF-8, .* after byte 0/);
    const cut = Buffer.from('{"input":1}\n"ë').subarray(0, -1);
    await expect(linesOf(fileOf(cut))).rejects.toThrow(/not UTF-8/);
  });

  test('with a line that has no end is given up at the bound', async () => {
    await expect(linesOf('/dev/zero')).rejects.toThrow(/a line of more than \d+ bytes/);
  });

  test('that is not there is told as such', async () => {
    await expect(linesOf(newDir('missing'))).rejects.toThrow(/cannot be read: ENOENT/);
  });
});
