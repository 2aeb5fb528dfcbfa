/** A bad line is refused when it is defined, and none can be changed afterwards. */
import { describe, expect, test } from 'vitest';
import { defineMachine, planOf } from '../../src/machine/index.ts';
import { define, good, input, ofLine, refusal, refused, step, work } from './refused.ts';

refused('a line', [
  ...[undefined, '', '1a', 'a.b', 'a b', 'ä', 'a/b', '__proto__', 7].map((name) => ({
    what: `has no step named ${JSON.stringify(name)}`,
    definition: ofLine((line) => line.step('first', step).step(name, step)),
    path: 'steps[1]',
    wanted: 'named by up to 64 letters',
    got: JSON.stringify(name) ?? 'undefined',
  })),
  ...['constructor', 'toString', 'hasOwnProperty'].map((name) => ({
    what: `has no step named ${name}`,
    definition: ofLine((line) => line.step(name, step)),
    path: 'steps[0]',
    wanted: 'named unlike what every object has',
    got: `"${name}"`,
  })),
  {
    what: 'has no name twice',
    definition: ofLine((line) => line.step('a', step).step('a', step)),
    path: 'steps.a',
    wanted: 'the only step of its name',
    got: 'another one before it',
  },
  {
    what: 'has no sleep named like a step',
    definition: ofLine((line) => line.step('a', step).sleep('a', '1m')),
    path: 'steps.a',
    wanted: 'the only step of its name',
    got: 'another one before it',
  },
  {
    what: 'of 10,000 steps is refused',
    definition: ofLine((line) => {
      let longer = line;
      for (let n = 0; n < 10_000; n++) longer = longer.step(`s${n}`, step);
      return longer;
    }),
    path: 'steps',
    wanted: 'a line of at most 1000 steps',
    got: 'one more',
  },
  {
    what: 'that is empty is refused',
    definition: ofLine((line) => line),
    path: 'steps',
    wanted: 'a line with at least one step',
    got: '0 sleeps only',
  },
  {
    what: 'that only sleeps is refused',
    definition: ofLine((line) => line.sleep('rest', '1s')),
    path: 'steps',
    wanted: 'a line with at least one step',
    got: '1 sleeps only',
  },
  {
    what: 'that is not returned is refused',
    definition: ofLine((line) => void line.step('a', step)),
    path: 'steps',
    wanted: 'a function that returns what its last call gave',
    got: 'undefined',
  },
  {
    what: 'that comes later is refused',
    definition: ofLine(async (line) => line.step('a', step)),
    path: 'steps',
    wanted: 'a function that returns what its last call gave',
    got: 'an instance of Promise',
  },
  {
    what: 'that branches is refused',
    definition: ofLine((line) => {
      const begun = line.step('a', step);
      begun.step('b', step);
      return begun.step('c', step);
    }),
    path: 'steps',
    wanted: 'one chain of calls',
    got: 'a second one from the same place, for "c"',
  },
  {
    what: 'whose step is no object is refused',
    definition: ofLine((line) => line.step('a', work)),
    path: 'steps.a',
    wanted: 'an object with check and work',
    got: 'function work',
  },
  {
    what: 'that is no function is refused',
    definition: { name: 'm', version: 1, input, steps: [step] },
    path: 'steps',
    wanted: 'a function (line) => line.step(…)',
    got: '[{"check":"none","work":function work}]',
  },
  {
    what: 'whose function throws is refused',
    definition: ofLine((line) => line.signal('go')),
    path: 'steps',
    wanted: 'a function (line) => line.step(…)',
    got: 'one that threw TypeError: line.signal is not a function',
  },
]);

test('a line that is returned before its end is refused', () => {
  const error = refusal(
    ofLine((line) => {
      const begun = line.step('a', step);
      begun.step('b', step);
      return begun;
    }),
  );
  expect(error.message).toContain('steps must be a function that returns what its last call gave');
});

test('a line of 1,000 steps with all phases is accepted', () => {
  const machine = defineMachine({
    name: 'long',
    version: 1,
    input,
    steps: (line) => {
      const all = { check: () => {}, work, validate: () => {}, persist: () => 1 };
      let longer = line.step('s0', all) as unknown as typeof line;
      for (let n = 1; n < 1_000; n++) longer = longer.step(`s${n}`, all) as unknown as typeof line;
      return longer;
    },
  });
  expect(machine.transitions).toHaveLength(4_000);
});

describe('after the definition', () => {
  test('a change of the literal has no effect', () => {
    const retry = { attemptMax: 2, work: { attemptMax: 3 } };
    const timeout: Record<string, string> = { work: '1s' };
    const literal = { ...good, retry, timeout, validate: () => {} } as Record<string, unknown>;
    const machine = define(literal);
    const before = planOf(machine)!;
    const { policy, functions } = before.line[0] as { policy: object; functions: object };
    const seen = JSON.stringify([before.fingerprint, policy, Object.keys(functions)]);

    literal['work'] = () => 'other';
    literal['persist'] = () => 'other';
    delete literal['validate'];
    literal['name'] = 'other';
    retry.attemptMax = 9;
    retry.work.attemptMax = 9;
    timeout['work'] = '9s';

    expect(planOf(machine)).toBe(before);
    expect(JSON.stringify([before.fingerprint, policy, Object.keys(functions)])).toBe(seen);
    expect(functions).toHaveProperty('work', work);
    expect(machine).toMatchObject({ name: 'm' });
  });

  test('a change of the machine throws', () => {
    const machine = define(good) as Record<string, unknown> & { transitions: { step: string }[] };
    expect(() => Object.assign(machine, { name: 'other' })).toThrow(TypeError);
    expect(() => Object.assign(machine, { more: 1 })).toThrow(TypeError);
    expect(() => machine.transitions.push({ step: 'x' })).toThrow(TypeError);
    expect(() => Object.assign(machine.transitions[0]!, { step: 'x' })).toThrow(TypeError);
    expect(() => {
      delete machine['name'];
    }).toThrow(TypeError);
  });

  test('a line that was kept takes no more steps', () => {
    let kept: { step(name: string, step: unknown): unknown } | undefined;
    const machine = define(
      ofLine((line) => {
        kept = line.step('a', step);
        return kept;
      }),
    ) as { transitions: object[] };
    expect(() => kept!.step('b', step)).toThrow(/got one after the definition, for "b"$/);
    expect(machine.transitions).toEqual([{ step: 'a', phase: 'work' }]);
  });
});
