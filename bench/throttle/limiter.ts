/** What a simulated pod asks before it calls: ours, or one of those it is measured against. */
export type Ended = 'ok' | 'throttled' | 'timeout' | 'failure';

export interface Limiter {
  /** Leave to call, or nothing. */
  take(now: number): object | undefined;
  end(leave: object, kind: Ended, now: number): void;
  /** When to ask again, where nothing comes back before. */
  lookAt(now: number): number;
}
