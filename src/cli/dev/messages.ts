/** What the worker process of `fleetq dev` tells its supervisor, over the channel between them. */
import type { ErrorInfo } from '../../ground/index.ts';
import type { Outcome } from '../../machine/index.ts';

interface OfRun {
  readonly run: string;
  readonly machine: string;
}
export type WorkerMessage =
  | { readonly kind: 'ready'; readonly boot: number; readonly journal: string }
  | (OfRun & { readonly kind: 'begun' })
  | (OfRun & { readonly kind: 'resumed'; readonly state: string; readonly attempt: number })
  | (OfRun & {
      readonly kind: 'finished';
      readonly outcome: Outcome;
      readonly state: string;
      readonly reason: string | undefined;
      readonly elapsedMs: number;
    })
  /** It cannot begin, and why; the process ends after this. */
  | { readonly kind: 'refused'; readonly error: ErrorInfo; readonly hint: string | undefined };
