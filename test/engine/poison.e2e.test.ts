/** Runs whose work kills the process: attemptMax decides how often, and the others complete. */
import { expect, test } from 'vitest';
import { runChild } from '../support/children.ts';
import { useTempDirs } from '../support/temp-dir.ts';

const newDir = useTempDirs();
/** What poison-child.ts gives its machine, and what every sleep has: this number decides there. */
const POISON_ATTEMPT_MAX = 3;

test.each(['work', 'sleep'])(
  'a run that kills its process in its %s ends after attemptMax deaths, and the others complete',
  async (where) => {
    const dataDir = newDir();
    const deaths = [];
    for (let boot = 1; boot <= 10; boot++) {
      const orders = { dataDir, poison: 1, innocents: 20, where };
      const end = await runChild('test/engine/poison-child.ts', orders);
      if (end.signal !== 'SIGKILL') {
        expect(end.code, end.stderr).toBe(0);
        expect(JSON.parse(end.stdout)).toEqual({ completed: 20, exhausted: 1 });
        break;
      }
      deaths.push(boot);
    }
    expect(deaths).toHaveLength(POISON_ATTEMPT_MAX);
  },
);

test('two runs that kill their process do not hide each other for ever', async () => {
  const dataDir = newDir();
  let deaths = 0;
  for (let boot = 1; boot <= 12; boot++) {
    const end = await runChild('test/engine/poison-child.ts', { dataDir, poison: 2, innocents: 5 });
    if (end.signal === 'SIGKILL') {
      deaths++;
      continue;
    }
    expect(JSON.parse(end.stdout)).toEqual({ completed: 5, exhausted: 2 });
    break;
  }
  expect(deaths).toBeGreaterThanOrEqual(POISON_ATTEMPT_MAX);
  expect(deaths).toBeLessThanOrEqual(2 * POISON_ATTEMPT_MAX);
});
