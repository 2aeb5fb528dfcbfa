/** Log lines from named events: their fields are public, and payloads stay out of them. */
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { pino } from 'pino';
import { afterEach, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { type RunId, traceIdOf } from '../../src/ground/index.ts';
import {
  abort,
  createFleet,
  defineMachine,
  exponential,
  handoff,
  type LogOptions,
  type Machine,
  writeLogs,
} from '../../src/index.ts';
import { tell } from '../../src/telemetry/events.ts';
import { codeOf, toldBy } from '../../src/telemetry/fields.ts';
import { openLogger, pretty } from '../../src/telemetry/logger.ts';
import { useTempDirs } from '../support/temp-dir.ts';

const newDir = useTempDirs();
const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});

type Line = Readonly<Record<string, unknown>>;
const LEVEL = { debug: 20, info: 30, warn: 40, error: 50 };
const input = z.object({ secret: z.string() });

/** Runs the machine to its end, and answers the lines a pino logger has written by then. */
async function linesOf(
  machine: Machine<{ secret: string }>,
  level: 'debug' | 'info' = 'debug',
  options: LogOptions = { detail: 'full' },
): Promise<{ lines: Line[]; text: string; id: string }> {
  const texts: string[] = [];
  const logger = pino({ level }, { write: (line: string) => texts.push(line) });
  stops.push(writeLogs(logger, options));
  const fleet = await createFleet({ machines: [machine], dataDir: newDir() });
  const run = await fleet.startLocal(machine, { secret: 'hush' });
  await run.result().catch(() => undefined);
  await fleet.drain();
  return { lines: texts.map((line) => JSON.parse(line)), text: texts.join(''), id: run.id };
}

function base(work: () => unknown) {
  return defineMachine({
    name: 'test/logged',
    version: 3,
    input,
    retry: { attemptMax: 2, backoff: exponential('1ms') },
    check: 'none',
    work: work as () => string,
  });
}
const of = (lines: readonly Line[], event: string) =>
  lines.filter((line) => line['event'] === event);

describe('levels and fields', () => {
  test('why a task is left to other pods can be read, by who looks for it', () => {
    const texts: string[] = [];
    const sink = { write: (line: string) => texts.push(line) };
    stops.push(writeLogs(pino({ level: 'debug' }, sink), { detail: 'full' }));
    tell('task.blocked', () => ({ run: 'a-run' as RunId, reason: 'two@2 cannot go on with it' }));
    expect(texts.map((line) => JSON.parse(line))).toMatchObject([
      { level: LEVEL.debug, run_id: 'a-run', reason: 'two@2 cannot go on with it' },
    ]);
  });

  test('that nobody takes the spans is a warning, in the words of whoever was to take them', () => {
    const texts: string[] = [];
    stops.push(writeLogs(pino({}, { write: (line: string) => texts.push(line) })));
    const error = { name: 'ExportError', message: 'connect ECONNREFUSED 127.0.0.1:4318' };
    tell('traces.failed', () => ({ error }));
    expect(texts.map((line) => JSON.parse(line))).toMatchObject([
      { level: LEVEL.warn, err: { message: 'connect ECONNREFUSED 127.0.0.1:4318' } },
    ]);
  });

  test('a run that ends well is one info line; its phases are debug lines', async () => {
    const { lines, id } = await linesOf(base(() => 'loot'));
    const [phase] = of(lines, 'phase.ended');
    expect(phase).toMatchObject({
      level: LEVEL.debug,
      run_id: id,
      machine: 'test/logged',
      machine_version: 3,
      state: 'main.work',
      step: 'main',
      phase: 'work',
      attempt: 1,
      outcome: 'done',
      duration_ms: expect.any(Number),
    });
    expect(of(lines, 'run.finished')).toEqual([
      expect.objectContaining({ level: LEVEL.info, outcome: 'completed', state: 'main.work' }),
    ]);
    expect(of(lines, 'run.finished')[0]).not.toHaveProperty('dead_letter');
  });

  test('at info only what matters is written', async () => {
    const { lines } = await linesOf(
      base(() => 'loot'),
      'info',
    );
    expect(lines.map((line) => line['event'])).toEqual([
      'engine.started',
      'run.finished',
      'engine.draining',
      'engine.drained',
    ]);
  });

  test('a retry is a warning, and a dead letter is one error with type, stack and causes', async () => {
    const { lines } = await linesOf(
      base(() => {
        throw new RangeError('no luck', { cause: new Error('the moon') });
      }),
      'info',
    );
    const [retry] = of(lines, 'phase.ended');
    expect(retry).toMatchObject({
      level: LEVEL.warn,
      outcome: 'retried',
      attempt: 1,
      due_at: expect.stringMatching(/^\d{4}-.*Z$/),
      err: { type: 'RangeError', message: 'no luck' },
    });
    const errors = lines.filter((line) => line['level'] === LEVEL.error);
    expect(errors).toEqual([
      expect.objectContaining({
        event: 'run.finished',
        outcome: 'exhausted',
        dead_letter: true,
        attempt: 2,
        err: {
          type: 'RangeError',
          message: 'no luck',
          stack: expect.stringContaining('logs.test.ts'),
          cause: ['the moon'],
        },
      }),
    ]);
  });

  test('an abort is an error with its reason, a handoff is not', async () => {
    const aborted = await linesOf(base(() => abort('too old', { kind: 'user' })));
    expect(of(aborted.lines, 'run.finished')[0]).toMatchObject({
      level: LEVEL.error,
      outcome: 'aborted',
      reason: 'too old',
    });
    const handedOff = await linesOf(
      defineMachine({
        name: 'test/handed',
        version: 1,
        input,
        check: () => handoff('there', 'it was there'),
        work: () => 'never',
      }),
    );
    expect(of(handedOff.lines, 'run.finished')[0]).toMatchObject({
      level: LEVEL.info,
      outcome: 'handedOff',
      reason: 'it was there',
    });
  });
});

describe('what users’ code says', () => {
  const secret = 'canary-7f3a';
  const throwing = (thrown: Error) =>
    base(() => {
      throw thrown;
    });

  test('is left out of errors by default: what is told is their type, their code and their place', async () => {
    const cause = new Error(secret);
    const thrown = Object.assign(new RangeError(`no ${secret}`, { cause }), { code: secret });
    const { lines, text } = await linesOf(throwing(thrown), 'debug', {});
    expect(text).not.toContain(secret);
    const [retry] = of(lines, 'phase.ended');
    const place = expect.stringMatching(/logs\.test\.ts:\d+:\d+$/);
    expect(retry).toMatchObject({ outcome: 'retried', err: { type: 'RangeError', at: place } });
    expect(retry?.['err']).not.toHaveProperty('message');
    expect(of(lines, 'run.finished')[0]).not.toHaveProperty('reason');
    const full = await linesOf(throwing(thrown), 'debug', { detail: 'full' });
    expect(full.text).toContain(`no ${secret}`);
  });

  test('is left out however it is said: by names, stacks, reasons and keys', async () => {
    const forged = new Error('short');
    forged.name = `Error ${secret}`;
    forged.stack = `Error: short\n    at ${secret} (${secret})\n ${secret}\n${secret}`;
    const { text } = await linesOf(throwing(forged), 'debug', {});
    expect(text).not.toContain(secret);
    const late = new Error(secret);
    late.message = 'another';
    expect((await linesOf(throwing(late), 'debug', {})).text).not.toContain(secret);
    const spoofed = new Error(`x\n    at ${secret}:1:1`);
    expect((await linesOf(throwing(spoofed), 'debug', {})).text).not.toContain(secret);
    const aborted = await linesOf(
      base(() => abort(secret)),
      'debug',
      {},
    );
    expect(aborted.text).not.toContain(secret);
    expect(of(aborted.lines, 'run.finished')[0]).toMatchObject({ outcome: 'aborted' });
  });

  test.each([
    ['ECONNREFUSED', 'ECONNREFUSED'],
    ['ERR_INVALID_ARG_TYPE', 'ERR_INVALID_ARG_TYPE'],
    ['FLEETQ_PHASE_TIMEOUT', 'FLEETQ_PHASE_TIMEOUT'],
    ['23505', '23505'],
    ['ENOTFOUND', 'ENOTFOUND'],
    ['EAI_AGAIN', 'EAI_AGAIN'],
    ['SQLITE_BUSY', 'SQLITE_BUSY'],
    ['secret-1', undefined],
    ['S3CR3T', undefined],
    ['toString', undefined],
  ])('the code %s is told as %s', (code, told) => {
    expect(codeOf(code)).toBe(told);
  });

  test('the words of a store that is away are told, those that quote what it refused are not', () => {
    const of = (code: string) => ({ name: 'StoreError', message: secret, code, stack: secret });
    const told = toldBy('safe');
    const away = told.ownErr(of('FLEETQ_STORE_UNREACHABLE'));
    expect(away).toEqual({
      ...{ type: 'StoreError', message: secret },
      ...{ code: 'FLEETQ_STORE_UNREACHABLE', stack: undefined },
    });
    expect(JSON.stringify(told.ownErr(of('FLEETQ_STORE_REFUSED')))).not.toContain(secret);
  });
});

describe('lines that belong to a run', () => {
  test('name its trace, which has the bits of its id', async () => {
    const { lines, id } = await linesOf(base(() => 'loot'));
    const hex = [...id].reduce(
      (bits, digit) => bits * 32n + BigInt('0123456789ABCDEFGHJKMNPQRSTVWXYZ'.indexOf(digit)),
      0n,
    );
    const trace_id = hex.toString(16).padStart(32, '0');
    expect(of(lines, 'phase.ended')[0]).toMatchObject({ trace_id, epoch: 1 });
    expect(of(lines, 'run.finished')[0]).toMatchObject({ trace_id });
    const uuid = '01890a5d-ac96-774b-bcce-b302099a8057';
    expect(traceIdOf(uuid)).toBe('01890a5dac96774bbcceb302099a8057');
    expect(traceIdOf('anything')).toBeUndefined();
  });

  test('the end of every phase is told at info where that is wanted, with its span if there is one', async () => {
    const spanIdOf = () => '00f067aa0ba902b7';
    const { lines } = await linesOf(
      base(() => 'loot'),
      'info',
      { phases: 'info', spanIdOf },
    );
    expect(of(lines, 'phase.ended')).toEqual([
      expect.objectContaining({ level: LEVEL.info, phase: 'work', span_id: spanIdOf() }),
    ]);
  });
});

describe('a log that cannot be written', () => {
  test.each([
    ['JSON', false],
    ['pretty', true],
  ])('harms nobody, and goes on when it can: %s', (_, isPretty) => {
    const full = openSync('/dev/full', 'w');
    const path = `${newDir()}.log`;
    mkdirSync(dirname(path), { recursive: true });
    const logger = openLogger({ level: 'info', isPretty, fd: full });
    for (let count = 0; count < 3; count++) expect(() => logger.info('lost')).not.toThrow();
    closeSync(full);
    // The lowest number that is free is the one that was closed.
    const room = openSync(path, 'w');
    expect(room, 'the same descriptor').toBe(full);
    logger.info('kept');
    expect(readFileSync(path, 'utf8')).toMatch(/^[^\n]*kept[^\n]*\n$/);
    closeSync(room);
  });

  test('is a line lost, and not a process, also where the logger is somebody else’s', async () => {
    const lines: string[] = [];
    const throws = () => {
      throw new Error('the transport has ended');
    };
    const tells = (_: object, message: string) => void lines.push(message);
    stops.push(writeLogs({ debug: throws, info: throws, warn: tells, error: tells }));
    const fleet = await createFleet({ machines: [base(() => 'loot')], dataDir: newDir() });
    tell('store.failedOver', () => ({ from: 'a', to: 'b' }));
    await fleet.drain();
    expect(lines).toEqual(['another server of the store has taken over']);
  });
});

describe('payloads', () => {
  test('neither inputs nor outputs are written, at any level', async () => {
    const { text } = await linesOf(base(() => 'the loot'));
    expect(text).not.toContain('hush');
    expect(text).not.toContain('the loot');
  });

  test('what a handler says is written with its phase, and cannot pose as something else', async () => {
    const circular: Record<string, unknown> = { run_id: 'forged', big: 10n };
    circular['self'] = circular;
    const { lines, id } = await linesOf(
      defineMachine({
        name: 'test/talking',
        version: 1,
        input,
        check: 'none',
        work: ({ log }) => log.warn('careful', circular),
      }),
    );
    expect(of(lines, 'log.said')).toEqual([
      expect.objectContaining({
        level: LEVEL.warn,
        msg: 'careful',
        run_id: id,
        state: 'main.work',
        fields: expect.objectContaining({ run_id: 'forged', self: '[Circular]' }),
      }),
    ]);
  });
});

describe('the pretty form', () => {
  const line = JSON.stringify({
    level: 'warn',
    time: '2030-01-01T10:20:30.400Z',
    pid: 1,
    event: 'phase.ended',
    run_id: 'R',
    attempt: 2,
    err: { type: 'Error', message: 'no luck' },
    msg: 'phase retried',
  });

  test('is a short line with the time, the level, the words and the fields', () => {
    expect(pretty(line, false)).toBe(
      '10:20:30.400 warn  phase retried  run_id=R attempt=2  \n             Error: no luck\n',
    );
  });

  test('tells where an error was thrown whose words are left out', () => {
    const { err: _, ...rest } = JSON.parse(line);
    const err = { type: 'RangeError', code: 'ECONNRESET', at: 'file:///srv/buy.js:3:9' };
    const text = pretty(JSON.stringify({ ...rest, err }), false);
    expect(text).toContain('\n             RangeError (ECONNRESET) at file:///srv/buy.js:3:9\n');
  });

  test('has colours only where they are wanted', () => {
    expect(pretty(line, true)).toContain('\u001b[');
  });
});
