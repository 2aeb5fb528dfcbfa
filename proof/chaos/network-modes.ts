/** What a way to the store can be like, beside open: each mode with what it needs to know. */
import type { Random } from '../../src/ground/index.ts';
import { below } from '../../test/support/seeded-random.ts';

export type NetworkMode =
  /** Everything comes later. */
  | { readonly kind: 'latency'; readonly delayMs: number }
  /** Everything comes later by its own time, in order. */
  | { readonly kind: 'jitter'; readonly delayMsMax: number }
  | { readonly kind: 'throttle'; readonly bytesPerSecond: number }
  /** Connections are reset, and new ones refused. */
  | { readonly kind: 'reset' }
  /** Nothing comes through until the way is open again, in both directions or in one. */
  | { readonly kind: 'silence' }
  | { readonly kind: 'unheard' }
  | { readonly kind: 'unanswered' }
  /** After so many bytes a connection breaks, in the middle of a message. */
  | { readonly kind: 'cutAfter'; readonly bytes: number }
  /** Connections end at the server's side, and that is heard late. */
  | { readonly kind: 'slowClose'; readonly delayMs: number }
  /** Silent and open in turns. */
  | { readonly kind: 'flapping'; readonly openMs: number; readonly silentMs: number };

export type ModeKind = NetworkMode['kind'];

export const MODE_KINDS: readonly ModeKind[] = [
  'latency',
  'jitter',
  'throttle',
  'reset',
  'silence',
  'unheard',
  'unanswered',
  'cutAfter',
  'slowClose',
  'flapping',
];

export function modeOf(kind: ModeKind, random: Random): NetworkMode {
  switch (kind) {
    case 'latency':
      return { kind, delayMs: 20 + below(random, 280) };
    case 'jitter':
      return { kind, delayMsMax: 50 + below(random, 400) };
    case 'throttle':
      return { kind, bytesPerSecond: 20_000 + below(random, 80_000) };
    case 'cutAfter':
      return { kind, bytes: 100 + below(random, 10_000) };
    case 'slowClose':
      return { kind, delayMs: 500 + below(random, 2_500) };
    case 'flapping':
      return { kind, openMs: 100 + below(random, 900), silentMs: 100 + below(random, 900) };
    default:
      return { kind };
  }
}
