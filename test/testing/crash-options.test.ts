/** Wrong use of crashTest is told before, or instead of, a crash, with what to write. */
import { expect, test } from 'vitest';
import type { CrashTestOptionsError } from '../../src/testing/index.ts';
import { broken, builtTesting, errorOf } from './support.ts';

const { crashTest } = await builtTesting();

function refusal(module: unknown, options: unknown): Promise<CrashTestOptionsError> {
  return errorOf(crashTest(module as URL, options as { input: object }));
}

const CODE = 'FLEETQ_CRASH_TEST_OPTIONS';

test('a machine instead of its module is refused: it cannot be carried into another process', async () => {
  const { appends } = (await import(broken.href)) as { appends: object };
  const error = await refusal(appends, { input: {} });
  expect(error).toMatchObject({
    code: CODE,
    hint: expect.stringContaining('import.meta.resolve('),
  });
  expect(error.message).toContain('the machine appends itself');
});

test.each([
  ['./charge.ts', 'got "./charge.ts"'],
  ['https://example.org/charge.js', 'got "https://example.org/charge.js"'],
  [undefined, 'got undefined'],
  [new URL('./nowhere.mjs', import.meta.url), 'there is no module'],
])('%s is no module that another process could load', async (module, message) => {
  const error = await refusal(module, { input: {} });
  expect(error).toMatchObject({
    code: CODE,
    hint: expect.stringContaining('import.meta.resolve('),
  });
  expect(error.message).toContain(message);
});

test.each([
  [undefined, 'needs the input'],
  [{}, 'needs the input'],
  [{ input: {}, timeout: 'soon' }, 'timeout must be a duration'],
  [{ input: {}, atOnce: 0 }, 'atOnce must be a whole number'],
  [{ input: {}, effects: 1 }, 'effects must be a function'],
  [{ input: {}, verify: true }, 'verify must be a function'],
  [{ input: {}, exportName: 3 }, 'exportName must be a name'],
  [{ input: {}, effect: () => 1 }, 'has no option "effect": did you mean effects?'],
  [{ input: {}, once: ['wrok'] }, 'once must be a list'],
  [{ input: {}, once: 'persist' }, 'once must be a list'],
])('the options %j are refused', async (options, message) => {
  const error = await refusal(broken, options);
  expect(error).toMatchObject({ code: CODE });
  expect(error.message).toContain(message);
});

test('of several machines in a module one has to be named', async () => {
  const several = await refusal(broken, { input: {} });
  expect(several.message).toContain('exports several machines: appends, appendsOnce');
  expect(several.hint).toContain("exportName: 'appends'");
  const missing = await refusal(broken, { input: {}, exportName: 'nobody' });
  expect(missing.message).toContain('has no export nobody');
  const none = await refusal(new URL('./support.ts', import.meta.url), { input: {} });
  expect(none.message).toContain('exports no machine');
});

test('an input that the machine refuses is told as such', async () => {
  const error = await refusal(broken, { exportName: 'appends', input: { fiel: 'x' } });
  expect(error.message).toMatch(/cannot be run: .*file/s);
});

test('effects that are no number, and a verify that refuses the run without a crash', async () => {
  const options = { exportName: 'impatient', input: {} };
  const effects = await refusal(broken, { ...options, effects: () => 'many' });
  expect(effects.message).toContain('effects must answer a number, got "many"');
  const verify = () => {
    throw new Error('the file is not there');
  };
  const refused = await refusal(broken, { ...options, verify });
  expect(refused.message).toContain('refuses the run without a crash: the file is not there');
});

test('a run that does not end without a crash is said to, in time or before', async () => {
  const late = await refusal(broken, { exportName: 'slow', input: {}, timeout: '2s' });
  expect(late).toMatchObject({ code: CODE, hint: expect.stringContaining('timeout') });
  expect(late.message).toContain('does not end without a crash: the process was not done in time');
  const stuck = await refusal(broken, { exportName: 'stuck', input: {} });
  expect(stuck.message).toContain('a phase waits for something that cannot come');
});
