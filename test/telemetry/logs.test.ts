/** Log lines from named events: their fields are public, and payloads stay out of them. */
import { pino } from 'pino';
import { afterEach, describe, expect, test } from 'vitest';
import * as z from 'zod';
import type { RunId } from '../../src/ground/index.ts';
import {
  abort,
  createFleet,
  defineMachine,
  exponential,
  handoff,
  type Machine,
  writeLogs,
} from '../../src/index.ts';
import { tell } from '../../src/telemetry/events.ts';
import { pretty } from '../../src/telemetry/logger.ts';
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
): Promise<{ lines: Line[]; text: string; id: string }> {
  const texts: string[] = [];
  stops.push(writeLogs(pino({ level }, { write: (line: string) => texts.push(line) })));
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
    stops.push(writeLogs(pino({ level: 'debug' }, sink)));
    tell('task.blocked', () => ({ run: 'a-run' as RunId, reason: 'two@2 cannot go on with it' }));
    expect(texts.map((line) => JSON.parse(line))).toMatchObject([
      { level: LEVEL.debug, run_id: 'a-run', reason: 'two@2 cannot go on with it' },
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

  test('has colours only where they are wanted', () => {
    expect(pretty(line, true)).toContain('\u001b[');
  });
});
