/**
 * What authors say a call came to. It may be anything, and so may its getters: each is asked once, and
 * what it gave is what is judged and gone by. Whatever is said, this never throws.
 */
import { hush } from '../../ground/index.ts';
import type { Classify } from './classify.ts';
import { type CallOutcome, soundOutcome } from './outcome.ts';
import type { RateHint } from './rate-headers.ts';

/** Nothing where it says nothing that could be gone by: the default decides then. */
export function heardOutcome(said: unknown): CallOutcome | undefined {
  if (typeof said === 'string') return soundOutcome({ kind: said });
  // An answer that comes later comes too late; should it reject, nobody else would hear of it.
  hush(said);
  try {
    const { kind, retryAfterMs, cost, hint, costHint } = Object(said) as Partial<CallOutcome>;
    const room = { hint: hint && copied(hint), costHint: costHint && copied(costHint) };
    return soundOutcome({ kind, retryAfterMs, cost, ...room });
  } catch {
    return undefined;
  }
}

/** Where the author's own word is none, or is not to be had, the default decides. */
export function classified(
  { classify }: { readonly classify: Classify | undefined },
  call: Parameters<Classify>[0],
): CallOutcome | undefined {
  try {
    return classify && heardOutcome(classify(call));
  } catch {
    return undefined;
  }
}

function copied({ remaining, resetMs }: RateHint): RateHint {
  return { remaining, resetMs };
}
