/** What a person's wish for an API comes to, before it is one. */
import { plural } from '../../format/words.ts';
import type { Throttle } from '../../services/fleet-types.ts';
import { permitsOf, showLimit } from './throttle-words.ts';

export type Order = 'pin' | 'unpin' | 'reset';

export interface Wish {
  readonly order: Order;
  readonly limit: number;
  /** Empty: until somebody lets go of it. */
  readonly during: string;
}

type Known = Pick<Throttle, 'cap' | 'isAdaptive'> & { readonly inFlight: number };

interface Effects {
  readonly effects: readonly string[];
  /** Why it cannot be. */
  readonly wrong?: string | undefined;
}

const LIMIT_MAX = 1_000_000;
const SOON = 'Whoever leads heeds it with its next heartbeat, and pods follow.';

export function effectsOf({ order, limit }: Wish, { cap, isAdaptive, inFlight }: Known): Effects {
  if (order === 'reset') {
    const known = cap === undefined ? 'Nothing is known of it.' : `${showLimit(cap)} is forgotten.`;
    const first = isAdaptive
      ? [known, 'The fleet starts with few calls, and makes more as the API takes them.']
      : ['How long calls took is forgotten. The limit stays what is declared.'];
    return { effects: [...first, 'A limit that a person has fixed stays fixed.'] };
  }
  if (order === 'unpin') {
    const basis = isAdaptive ? 'what it finds out, from what it knew before' : 'what is declared';
    return { effects: [`The fleet goes by ${basis}.`, SOON] };
  }
  if (!(limit > 0 && limit <= LIMIT_MAX)) {
    return { effects: [], wrong: 'A limit is a number above 0 and up to 1,000,000.' };
  }
  const most = permitsOf(limit);
  const over = inFlight - most;
  const from = cap === undefined ? '' : `, instead of ${showLimit(cap)} now`;
  return {
    effects: [
      `The whole fleet has ${plural(most, 'call')} at once at most${from}.`,
      over > 0
        ? `${inFlight} are out: they go on, and nothing begins until ${over} of them are over.`
        : `${inFlight} ${inFlight === 1 ? 'is' : 'are'} out now.`,
      ...(isAdaptive && cap !== undefined && limit > 2 * cap
        ? ['That is more than twice of what was found to go well: the API may refuse much of it.']
        : []),
      SOON,
    ],
  };
}
