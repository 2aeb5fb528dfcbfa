/**
 * By how much what calls take falls by itself, with as many at once as before: no line does that. So a fall
 * that is no larger proves none, and calls that take so much longer than at their best are as usual. Falls
 * alone count: a line that forms makes calls take longer. Pure.
 */
/** About as long as fewer are tried. */
const FALL_MS = 20_000;
const KEPT_MS = 300_000;
const RECENT_COUNT_MAX = 64;

export class Wavering {
  /** As a logarithm: 0.1 is about a tenth. */
  most = 0;
  #notedMs: number | undefined;
  #fromMs = Number.NEGATIVE_INFINITY;
  #recent: { readonly atMs: number; readonly log: number }[] = [];

  note(ms: number, nowMs: number): void {
    if (nowMs < this.#fromMs) return;
    const log = Math.log(ms);
    const isRecent = ({ atMs }: { readonly atMs: number }) => atMs >= nowMs - FALL_MS;
    this.#recent = this.#recent.filter(isRecent).slice(1 - RECENT_COUNT_MAX);
    this.#recent.push({ atMs: nowMs, log });
    const fall = Math.max(...this.#recent.map((one) => one.log)) - log;
    const kept = Math.exp(((this.#notedMs ?? nowMs) - nowMs) / KEPT_MS);
    this.most = Math.max(fall, this.most * kept);
    this.#notedMs = nowMs;
  }

  /** There were fewer or more at once: until that is over, a fall is none that comes by itself. */
  restart(fromMs: number): void {
    this.#recent = [];
    this.#fromMs = fromMs;
  }
}
