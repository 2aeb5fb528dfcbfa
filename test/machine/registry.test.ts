/** Which machines a process has, and what it says about those it has not. */
import { expect, test } from 'vitest';
import * as z from 'zod';
import {
  defineMachine,
  isMachine,
  planOf,
  Registry,
  RegistryError,
} from '../../src/machine/index.ts';

const machine = (name: string, version = 1) =>
  defineMachine({ name, version, input: z.object({}), check: 'none', work: () => 1 });

test('a machine is found by name and version, and the newest by name alone', () => {
  const [one, ten, two, other] = [machine('a'), machine('a', 10), machine('a', 2), machine('b')];
  const registry = new Registry([one, ten, two, other]);
  expect(registry.find('a', 2)).toBe(planOf(two));
  expect(registry.find('a', 3)).toBeUndefined();
  expect(registry.find('c', 1)).toBeUndefined();
  expect(registry.newest('a')).toBe(planOf(ten));
  expect(registry.all()).toHaveLength(4);
});

test('the same machine may be given twice, but two may not share a name and version', () => {
  const one = machine('image/pull');
  expect(new Registry([one, one]).all()).toHaveLength(1);
  const clash = () => new Registry([one, machine('image/pull')]);
  expect(clash).toThrow(RegistryError);
  expect(clash).toThrow('two machines are called image/pull@1');
});

test('a machine that nobody registered is told with those that somebody did', () => {
  const error = refusal(() =>
    new Registry([machine('b'), machine('a'), machine('a', 2)]).newest('c'),
  );
  expect(error).toMatchObject({
    code: 'FLEETQ_REGISTRY',
    verdict: 'abort',
    message: 'there is no machine called "c"',
    hint: 'there are: a, b',
  });
  expect(refusal(() => new Registry([]).newest('c')).hint).toBe('no machine is registered');
});

test.each([
  [
    { name: 'm', version: 1 },
    'machines[1] must come from defineMachine, got {"name":"m","version":1}',
  ],
  [undefined, 'machines[1] must come from defineMachine, got undefined'],
  [machine, 'machines[1] must come from defineMachine, got function machine'],
])('what is no machine is refused: %s', (wrong, message) => {
  expect(refusal(() => new Registry([machine('a'), wrong])).message).toBe(message);
});

test.each([undefined, null, 'machines', { a: machine('a') }])(
  'what is no list is refused: %s',
  (wrong) => {
    const error = refusal(() => new Registry(wrong as never));
    expect(error.message).toMatch(/^machines must be an array of machines, got /);
  },
);

test('a copy of a machine is none, since it lacks what makes it one', () => {
  const one = machine('a');
  expect(isMachine(one)).toBe(true);
  expect(isMachine({ ...one })).toBe(false);
  for (const value of [undefined, null, 1, 'a', () => one]) expect(isMachine(value)).toBe(false);
});

function refusal(act: () => unknown): RegistryError {
  try {
    act();
  } catch (error) {
    expect(error).toBeInstanceOf(RegistryError);
    return error as RegistryError;
  }
  throw new Error('nothing was refused');
}
