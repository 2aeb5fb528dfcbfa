/** A machine is data: its fingerprint, its XState machine, its diagram. */
import { type } from 'arktype';
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { createActor, type createMachine, StateMachine } from 'xstate';
import * as z from 'zod';
import { exponential } from '../../src/ground/index.ts';
import { type AnySchema, defineMachine, type Machine } from '../../src/machine/index.ts';
import { define, good, ofLine, step } from './refused.ts';

const pull = {
  name: 'image/pull',
  version: 1,
  input: z.object({ src: z.string() }),
  check: () => {},
  work: () => 1,
  validate: () => {},
  persist: () => 2,
};
const finger = (definition: unknown) => (define(definition) as Machine).fingerprint;
const withInput = (input: AnySchema) => finger({ ...pull, input });

describe('the fingerprint', () => {
  test('is 32 hexadecimal digits, the same for the same definition', () => {
    expect(finger(pull)).toMatch(/^[0-9a-f]{32}$/);
    expect(finger({ ...pull, input: z.object({ src: z.string() }) })).toBe(finger(pull));
  });

  test('changes with the name, the phases, and the names and order of the parts', () => {
    const { validate: _, ...withoutValidate } = pull;
    const { persist: __, ...withoutPersist } = pull;
    const lines = [
      ofLine((line) => line.step('a', step).step('b', step)),
      ofLine((line) => line.step('b', step).step('a', step)),
      ofLine((line) => line.step('a', step)),
      ofLine((line) => line.step('a', step).step('c', step)),
      ofLine((line) => line.step('a', step).sleep('b', '1s')),
      ofLine((line) => line.step('a', { ...step, check: () => {} }).step('b', step)),
    ];
    const single = [
      pull,
      { ...pull, name: 'image/push' },
      withoutValidate,
      withoutPersist,
      { ...pull, check: 'none' },
      { ...pull, output: z.number() },
      { ...pull, output: z.string() },
    ];
    const all = [...single, ...lines].map(finger);
    expect(new Set(all).size).toBe(all.length);
  });

  test('changes with a schema whose library tells what it is', () => {
    expect(withInput(z.object({ src: z.number() }))).not.toBe(finger(pull));
    expect(withInput(z.object({ src: z.string(), to: z.string() }))).not.toBe(finger(pull));
    expect(withInput(type({ src: 'string' }))).not.toBe(withInput(type({ src: 'number' })));
  });

  test('cannot see into a schema whose library does not tell, but knows whose it is', () => {
    expect(withInput(v.object({ src: v.string() }))).toBe(withInput(v.object({ src: v.number() })));
    const unspeakable = z.object({ at: z.date() });
    expect(withInput(v.object({}))).not.toBe(withInput(unspeakable as unknown as AnySchema));
  });

  test('survives a schema that tells nonsense, or throws over it', () => {
    const validate = (value: unknown) => ({ value });
    const telling = (input: () => unknown) =>
      ({
        '~standard': { version: 1, vendor: 'odd', validate, jsonSchema: { input } },
      }) as AnySchema;
    const round: Record<string, unknown> = {};
    round['self'] = round;
    const none = withInput(telling(() => undefined));
    expect(withInput(telling(() => round))).toBe(none);
    expect(withInput(telling(() => 1n))).toBe(none);
    expect(
      withInput(
        telling(() => {
          throw new Error('no');
        }),
      ),
    ).toBe(none);
  });

  test('does not change with functions, retries, time limits, delays or the version', () => {
    const other = {
      ...pull,
      version: 2,
      work: () => 'quite another thing',
      retry: { attemptMax: 9, backoff: exponential('1s') },
      timeout: { work: '1m', run: '1h' },
    };
    expect(finger(other)).toBe(finger(pull));
    expect(finger(ofLine((line) => line.step('a', step).sleep('b', '1s')))).toBe(
      finger(ofLine((line) => line.step('a', step).sleep('b', () => '2s'))),
    );
  });

  test('is the same whatever order the phases are written in', () => {
    const { check, work, validate, persist, ...head } = pull;
    expect(finger({ persist, validate, work, check, ...head })).toBe(finger(pull));
  });
});

describe('toXState', () => {
  test('gives a machine that XState itself can run', () => {
    const xstate = defineMachine(pull).toXState() as ReturnType<typeof createMachine>;
    expect(xstate).toBeInstanceOf(StateMachine);
    expect(xstate.id).toBe('image/pull');
    const actor = createActor(xstate).start();
    const seen = [actor.getSnapshot().value];
    for (const type of ['DONE', 'DONE', 'FAILED', 'PROBED', 'DONE', 'NONSENSE', 'DONE', 'DONE']) {
      actor.send({ type });
      seen.push(actor.getSnapshot().value);
    }
    expect(seen).toEqual([
      'main.check',
      'main.work',
      'main.validate',
      'main.work',
      'main.work',
      'main.validate',
      'main.validate',
      'main.persist',
      'completed',
    ]);
    expect(actor.getSnapshot().status).toBe('done');
  });

  test('gives a flat machine without delays, invocations or actions', () => {
    const xstate = defineMachine(pull).toXState() as ReturnType<typeof createMachine>;
    expect(JSON.stringify(xstate.config)).not.toMatch(/"(after|invoke|entry|exit|actions|always)"/);
    for (const state of Object.values(xstate.states)) {
      expect(state.type).toMatch(/^(atomic|final)$/);
    }
  });
});

describe('toMermaid', () => {
  test('draws one step with all its phases', () => {
    expect(defineMachine(pull).toMermaid()).toBe(`stateDiagram-v2
  state "main.check" as s1
  state "main.work" as s2
  state "main.validate" as s3
  state "main.persist" as s4
  [*] --> s1
  s1 --> s2
  s1 --> handedOff: handoff
  s2 --> s3
  s3 --> s4
  s3 --> s2: rejected
  s4 --> completed
  handedOff --> [*]
  completed --> [*]
`);
  });

  test('draws a line with a sleep, and keeps names apart that differ by a dash', () => {
    const machine = define(
      ofLine((line) =>
        line
          .step('cool-down', { ...step, check: () => {} })
          .sleep('cool_down', '1m')
          .step('end', step),
      ),
    ) as Machine;
    expect(machine.toMermaid()).toBe(`stateDiagram-v2
  state "cool-down.check" as s1
  state "cool-down.work" as s2
  state "cool_down.sleep" as s3
  state "end.work" as s4
  [*] --> s1
  s1 --> s2
  s1 --> s3: handoff
  s2 --> s3
  s3 --> s4
  s4 --> completed
  completed --> [*]
`);
  });
});

test('a machine shows its name and version, and nothing that can be changed', () => {
  const machine = define(good) as Machine;
  expect(machine).toMatchObject({ name: 'm', version: 1 });
  expect(Object.isFrozen(machine)).toBe(true);
  expect(Object.keys(machine)).toEqual([
    'name',
    'version',
    'fingerprint',
    'transitions',
    'toXState',
    'toMermaid',
  ]);
});
