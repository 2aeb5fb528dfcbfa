/**
 * Several stores that are asked the same and have to answer the same: the first is the one that is
 * believed, and whoever answers otherwise is told with what was asked.
 */
import assert from 'node:assert/strict';
import { FleetqError } from '../../src/ground/index.ts';
import type { Store } from '../../src/store/store.ts';

export interface Named<T> {
  readonly name: string;
  readonly it: T;
}

/** What two stores made of one question. */
export class DifferenceError extends Error {}

export type Verb = Exclude<keyof Store, 'capabilities'>;
type Answer = { readonly is: unknown } | { readonly threw: string };

/**
 * Its answers come in no order, or in one that rests on ids being minted when tasks are made, as they
 * are not here.
 */
const UNORDERED: readonly Verb[] = ['list', 'find', 'take', 'failHopeless', 'heads'];
/** Words for people, which each store may find for itself, and what only one of them can know. */
const FREE = ['reason', 'timeline', 'mark'];

export interface TwinOptions {
  readonly onAnswer: (verb: Verb, answer: unknown) => void;
  /** What is asked instead, of all of them alike. */
  readonly before: (verb: Verb, args: readonly unknown[]) => readonly unknown[];
  /** Whether this one is asked of all; otherwise the first answers alone. */
  readonly isForAll: (verb: Verb) => boolean;
}

export function twinStore(
  stores: readonly Named<Store>[],
  { onAnswer, before, isForAll }: TwinOptions,
): Store {
  const ask =
    (verb: Verb) =>
    async (...given: unknown[]): Promise<unknown> => {
      const args = before(verb, given);
      const asked = isForAll(verb) ? stores : stores.slice(0, 1);
      const answers = await Promise.all(asked.map(({ it }) => answerOf(it, verb, args)));
      const [believed, ...others] = answers.map((answer) => comparable(verb, answer));
      others.forEach((other, index) => {
        compare(`${verb}(${JSON.stringify(args)})`, {
          [stores[0]!.name]: believed,
          [asked[index + 1]!.name]: other,
        });
      });
      const [first] = answers;
      if ('threw' in first!) throw (first as { error?: unknown }).error;
      onAnswer(verb, first!.is);
      return first!.is;
    };
  return new Proxy({} as Store, { get: (_, verb) => ask(verb as Verb) });
}

/** Of two names with what each of them has. */
export function compare(what: string, sides: Readonly<Record<string, unknown>>): void {
  const [left, right] = Object.values(sides);
  try {
    assert.deepStrictEqual(right, left);
  } catch (error) {
    const names = Object.keys(sides).reverse().join(' (+) and ');
    throw new DifferenceError(`${names} (-) differ at ${what}:\n${(error as Error).message}`);
  }
}

async function answerOf(store: Store, verb: Verb, args: readonly unknown[]): Promise<Answer> {
  try {
    return { is: await (store[verb] as (...args: unknown[]) => Promise<unknown>)(...args) };
  } catch (error) {
    if (!(error instanceof FleetqError)) throw error;
    return { threw: error.code, error } as Answer;
  }
}

function comparable(verb: Verb, answer: Answer): unknown {
  if ('threw' in answer) return { threw: answer.threw };
  const plain = plainOf(answer.is);
  if (verb === 'histories') return (plain as { events: string }[]).map(withParsedEvents);
  if (!UNORDERED.includes(verb)) return plain;
  return (plain as Rowlike[]).sort((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1));
}

interface Rowlike {
  readonly task?: string;
  readonly id?: string;
  readonly generation: number;
}

function nameOf({ task, id, generation }: Rowlike): string {
  return `${task ?? id} ${generation}`;
}

/** JSON may be written in more than one way. */
function withParsedEvents(segment: { readonly events: string }) {
  return { ...segment, events: plainOf(JSON.parse(segment.events)) };
}

/** Without what is undefined or null, and errors as what they say; fractions of a millisecond come from how a store counts. */
export function plainOf(value: unknown): unknown {
  const text = JSON.stringify(value, (name, inner) => {
    if (FREE.includes(name) || inner === null) return undefined;
    if (name === 'error' && typeof inner === 'string') return JSON.parse(inner);
    return typeof inner === 'number' ? Math.round(inner) : inner;
  });
  return text === undefined ? undefined : JSON.parse(text);
}
