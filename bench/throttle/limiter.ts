/** What a simulated pod asks before it calls: ours, or one of those it is measured against. */
export type Ended = 'ok' | 'throttled' | 'timeout' | 'failure';

/** What an API tells of its room, in headers. */
export interface Hint {
  readonly remaining: number;
  readonly resetMs: number;
}

export interface Limiter {
  /** Leave to call, or nothing. */
  take(now: number): object | undefined;
  end(leave: object, kind: Ended, now: number, hint?: Hint): void;
  /** When to ask again, where nothing comes back before. */
  lookAt(now: number): number;
}
