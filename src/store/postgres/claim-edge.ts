/**
 * Where a claim begins to look. A row that is taken leaves an entry in the index of what is ready, and nobody
 * can remove it while an old transaction may still want to see the row; so long as one lasts, a look from the
 * beginning reads all that was taken since. Then claims begin where this pod has last taken something, a
 * little before it, and from the beginning only so often that it takes a small share of the time. A row that
 * came back with an old due time waits for that; then claims go on from there.
 *
 *   whole look ──(slow for a while)──▶ known places ──(as slow: it is not the index)──▶ whole look
 *        ▲                       │
 *        └───(a hundred times as long as it took)
 */
import type { Row } from './pool.ts';

/** Whole looks that take no longer are not worth avoiding, nor are a few that do. */
const SLOW_MS = 20;
const SLOW_COUNT = 5;
/** One that takes so many times as long as a look at known places reads what is gone. */
const DEAR = 3;
/** How many times as long as it took a whole look is put off: at first, and at most. */
const REST = { least: 10, most: 100 };
/** And no more than so many times for each pod that is up: one of them looks soon enough. */
const REST_OF_A_POD = 10;
/** Of some fifty claims a second this leaves slow ones to be fewer than one in a hundred. */
const REST_MS_MIN = 5_000;
/** How far before the last row taken one may still come to be seen: its transaction took so long. */
const LATE_S = 1;
/** Of one route; the ones that were taken from longest ago are forgotten. */
const PLACE_COUNT_MAX = 1_000;

interface Place {
  readonly urgency: number;
  readonly queue: string;
  readonly from: number;
}

interface Route {
  readonly places: Map<string, Place>;
  /** Since when sleepers may be due. */
  dueFrom: number;
}

export class ClaimEdge {
  readonly #routes = new Map<string, Route>();
  #wholeMs = 0;
  #restUntilMs = Number.NEGATIVE_INFINITY;
  /** How many whole looks in a row were slow. */
  #slowCount = 0;
  #podCount = 1;

  sharedBy(podCount: number): void {
    this.#podCount = Math.max(1, podCount);
  }

  /** Whether the next look is to be from the beginning. */
  isWhole(nowMs: number): boolean {
    return nowMs >= this.#restUntilMs;
  }

  /** Parallel lists: routes, urgencies, queues and since when. */
  knownOf(routes: readonly string[]): unknown[][] {
    const known = routes.flatMap((route) =>
      [...(this.#routes.get(route)?.places.values() ?? [])].map((place) => ({ route, ...place })),
    );
    return [
      known.map(({ route }) => route),
      known.map(({ urgency }) => urgency),
      known.map(({ queue }) => queue),
      known.map(({ from }) => from),
    ];
  }

  dueFromOf(routes: readonly string[]): number[] {
    return routes.map((route) => this.#routes.get(route)?.dueFrom ?? Number.NEGATIVE_INFINITY);
  }

  looked(isWhole: boolean, rows: readonly Row[], { nowMs, tookMs }: Looked): void {
    if (isWhole) this.#goBack(rows);
    for (const row of rows) this.#took(row);
    if (!isWhole) {
      // It is the way to the server that is slow, or the server itself.
      if (tookMs * DEAR >= this.#wholeMs) this.#forgive();
      return;
    }
    this.#wholeMs = tookMs;
    if (tookMs <= SLOW_MS) return this.#forgive();
    this.#slowCount += 1;
    if (this.#slowCount < SLOW_COUNT) return;
    const most = Math.min(REST.most, REST_OF_A_POD * this.#podCount);
    const times = Math.min(most, REST.least * 2 ** (this.#slowCount - SLOW_COUNT));
    this.#restUntilMs = nowMs + Math.max(REST_MS_MIN, times * tookMs);
  }

  /** What a whole look takes may be old, as what was released is; more of that lies right behind it. */
  #goBack(rows: readonly Row[]): void {
    for (const row of rows) {
      const known = this.#routes.get(row['route'] as string);
      if (row['head'] === 'due' && known) known.dueFrom = Number.NEGATIVE_INFINITY;
      if (row['head'] === 'ready') known?.places.delete(nameOf(row));
    }
  }

  #forgive(): void {
    this.#slowCount = 0;
    this.#restUntilMs = Number.NEGATIVE_INFINITY;
  }

  #took(row: Row): void {
    const [route, queue] = [row['route'] as string, row['queue'] as string];
    const from = (row['ready_at'] as number) - LATE_S;
    const known = this.#routes.get(route) ?? {
      places: new Map(),
      dueFrom: Number.NEGATIVE_INFINITY,
    };
    this.#routes.set(route, known);
    if (row['head'] === 'due') known.dueFrom = Math.max(known.dueFrom, from);
    if (row['head'] !== 'ready') return;
    const name = nameOf(row);
    const urgency = ~(row['priority'] as number);
    const before = known.places.get(name)?.from ?? Number.NEGATIVE_INFINITY;
    known.places.delete(name);
    known.places.set(name, { urgency, queue, from: Math.max(before, from) });
    if (known.places.size > PLACE_COUNT_MAX) known.places.delete(known.places.keys().next().value!);
  }
}

function nameOf(row: Row): string {
  return `${row['priority']}\n${row['queue']}`;
}

interface Looked {
  readonly nowMs: number;
  readonly tookMs: number;
}
