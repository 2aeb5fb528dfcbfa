/** A bad `upgrade` is refused when it is defined. */
import { expect, test } from 'vitest';
import { planOf } from '../../src/machine/index.ts';
import { define, good, refused } from './refused.ts';

const restart = (old: { restart(input: unknown): unknown }) => old.restart({ a: '' });
const FUNCTION = 'a function (old) => old.resumeAt(…) or old.restart(…)';

refused('an upgrade', [
  ...[7, 'restart', [restart], null].map((upgrade) => ({
    what: `that is no object is refused: ${JSON.stringify(upgrade)}`,
    definition: { ...good, version: 2, upgrade },
    path: 'upgrade',
    wanted: 'an object',
    got:
      { 7: '7', restart: '"restart"' }[String(upgrade)] ??
      (upgrade ? '[function restart]' : 'null'),
  })),
  ...['2', '3', '0', '-1', '1.5', 'one', '01', '1e0'].map((key) => ({
    what: `from version ${key} to version 2 is refused`,
    definition: { ...good, version: 2, upgrade: { [key]: restart } },
    path: `upgrade.${key}`,
    wanted: 'an upgrade from a version below 2',
    got: `one from "${key}"`,
  })),
  {
    what: 'that is no function is refused',
    definition: { ...good, version: 3, upgrade: { 1: restart, 2: 'restart' } },
    path: 'upgrade.2',
    wanted: FUNCTION,
    got: '"restart"',
  },
]);

test('an upgrade is read once, and is no part of the fingerprint', () => {
  const upgrade: Record<number, unknown> = { 1: restart, 2: undefined };
  const machine = define({ ...good, version: 3, upgrade });
  upgrade[2] = restart;
  expect([...planOf(machine)!.upgrades.keys()]).toEqual([1]);
  const without = define({ ...good, version: 3 });
  expect(planOf(without)!.fingerprint).toBe(planOf(machine)!.fingerprint);
});
