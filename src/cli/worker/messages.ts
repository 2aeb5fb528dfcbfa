/** What a pod's process tells the one that started it, over the channel between them. */
import type { ErrorInfo } from '../../ground/index.ts';
import type { Outcome } from '../../machine/index.ts';

interface OfRun {
  readonly run: string;
  readonly machine: string;
  readonly version: number;
}
export type PodMessage =
  | {
      readonly kind: 'ready';
      readonly boot: number;
      readonly journal: string;
      /** Its id among pods; undefined where there is no store. */
      readonly pod: string | undefined;
      /** Where probes are answered. */
      readonly health: string | undefined;
    }
  /** All is ready, and another process holds the directory; it was asked to drain. */
  | { readonly kind: 'waiting'; readonly holder: string }
  /** A task of the store is this pod's. */
  | (OfRun & { readonly kind: 'claimed' })
  | (OfRun & { readonly kind: 'begun' })
  | (OfRun & { readonly kind: 'resumed'; readonly state: string; readonly attempt: number })
  | (OfRun & {
      readonly kind: 'finished';
      readonly outcome: Outcome;
      readonly state: string;
      readonly reason: string | undefined;
      readonly elapsedMs: number;
    })
  /** The store has it again: parked, released or ended. */
  | { readonly kind: 'settled'; readonly run: string; readonly to: string }
  /** It cannot begin, and why; the process ends after this. */
  | {
      readonly kind: 'refused';
      readonly error: ErrorInfo;
      readonly hint: string | undefined;
      /** To try again may help: the store may just be away. */
      readonly mayPass: boolean;
    };
