/** The program of `npm run proof -- corruption`, at a stride; and that its judge would see a lie. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { judge } from './judge.ts';
import { makeSamples } from './sample.ts';
import type { State } from './state.ts';

test.each([
  { what: 'a journal', stride: 211, more: [] },
  // Its files are larger, since sealed texts are.
  { what: 'a journal that is sealed', stride: 389, more: ['--sealed'] },
])(
  'no byte of $what can be cut off or changed in silence',
  ({ stride, more }) => {
    const main = fileURLToPath(new URL('../main.ts', import.meta.url));
    const args = [main, 'corruption', '--json', '--stride', String(stride), ...more];
    const child = spawnSync(process.execPath, args, { encoding: 'utf8', timeout: 300_000 });
    const report = JSON.parse(child.stdout || '{}') as Record<string, number>;
    expect(report, child.stderr).toMatchObject({ silent: 0 });
    expect(report['images']).toBeGreaterThan(1_500);
    // Every kind of answer was met, or the sample would not have tested it.
    for (const verdict of ['identical', 'prefixWithAlarm', 'quarantined', 'putAside']) {
      expect(report[verdict], verdict).toBeGreaterThan(0);
    }
    expect(child.status).toBe(0);
  },
  300_000,
);

test('the judge takes every kind of silent lie for one', async () => {
  const [{ truth } = { truth: undefined as never }] = await makeSamples();
  const [id, facts] = [...truth.runs][12]!;
  const lies: Record<string, State> = {
    'a lost run': { ...truth, runs: new Map([...truth.runs].slice(1)) },
    'a lost record': changed(truth, id, { hashes: facts.hashes.slice(0, -1) }),
    'another row': changed(truth, id, { row: facts.row?.replace('sample', 'simple') }),
    'a key that finds nothing': {
      ...truth,
      keys: new Map([...truth.keys].map(([key, run]) => [key, run === id ? 'none' : run])),
    },
    'a timer at another time': { ...truth, timers: [`${truth.timers[0]}0`] },
    'a lost dead letter': { ...truth, deadLetters: truth.deadLetters.slice(1) },
    'a boot that was counted before': { ...truth, boot: truth.boot - 1 },
    'an empty slot that was full': { ...truth, evidence: '[]' },
  };
  expect(judge(truth, truth).verdict).toBe('identical');
  for (const [what, seen] of Object.entries(lies)) {
    expect(judge(truth, seen).verdict, what).toBe('silent');
  }
  // An alarm excuses what is missing, and not what is false.
  const alarmed = changed({ ...truth, alarms: ['fileDamaged'] }, id, { hashes: ['another'] });
  expect(judge(truth, alarmed).verdict).toBe('silent');
});

function changed(truth: State, id: string, facts: object): State {
  const runs = [...truth.runs].map(
    ([run, was]) => [run, run === id ? { ...was, ...facts } : was] as const,
  );
  return { ...truth, runs: new Map(runs) };
}
