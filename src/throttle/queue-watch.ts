/**
 * Whether calls wait in line on the other side, which only their latency tells: by the median, since tails
 * are noise, against the least there ever was, since nobody says what is normal. But calls may also take
 * longer because there is more to do for each, as with longer texts. So fewer at once are tried for a
 * while: those who waited in line take less then, by as much as there are fewer; the others take as long as
 * before, and that is what is normal from then on. It never becomes so just by lasting, or a line would.
 */
import { Latencies, type LatencyCounts } from './latencies.ts';

const CALLS_MIN = 90;
const CALLS_MAX = 900;
/** So many calls for a median that is right within a twentieth, by the square of their spread. */
const CALLS_BY_SPREAD = 625;
const RATE_KEPT_MS = 20_000;
const PAUSE_RATIO = 1.18;
const CUT_RATIO = 1.45;
/** A little more than what the API works on at a time keeps it at work. */
const FULL_MARGIN = 1.15;
/** Where nothing has come back lately. */
const GUESSED_SHARE = 0.7;
/** Beside the time of a call: so long a line forms that is not seen at once. */
const SETTLED_MS = 4_000;
/** Calls that took a little longer for so long either wait in line or are other calls than before. */
const LONGER_MS = 60_000;
/** So many at once show which it is; so many are enough where the line was short. */
const TRIED_SHARE = 0.8;
const LINE_SHARE = 0.92;

/** What is to be tried. */
export interface Fewer {
  readonly cap: number;
  /** What is enough where there was a line. */
  readonly inLine: number;
}

interface Trial {
  /** What calls took before there were fewer. */
  readonly medianMs: number;
  /** Of what there were at once before. */
  readonly share: number;
  isBegun: boolean;
}

export class QueueWatch {
  readonly #latencies = new Latencies(CALLS_MIN);
  #baseMs: number | undefined;
  #rates: { readonly atMs: number; readonly value: number }[] = [];
  #longerFromMs: number | undefined;
  #farFromMs: number | undefined;
  #trial: Trial | undefined;

  /** With what was normal to whoever watched before: a line that is there by now would be, else. */
  constructor(baseMs?: number | undefined) {
    this.#baseMs = baseMs;
  }

  /** What is normal; undefined while that is not known. */
  get baseMs(): number | undefined {
    return this.#baseMs;
  }

  noteLatencies(latencies: LatencyCounts, nowMs: number): void {
    this.#latencies.recordCounts(latencies);
    const medianMs = this.#medianMs;
    if (medianMs === undefined) return;
    const spread = Math.log(this.#latencies.quantile(0.84)! / this.#latencies.quantile(0.16)!) / 2;
    const wanted = Math.ceil(CALLS_BY_SPREAD * spread * spread);
    this.#latencies.countMin = Math.min(CALLS_MAX, Math.max(CALLS_MIN, wanted));
    this.#baseMs = Math.min(this.#baseMs ?? medianMs, medianMs);
    if (this.pressure === 'none') this.#longerFromMs = undefined;
    else this.#longerFromMs ??= nowMs;
    if (this.pressure !== 'cut') this.#farFromMs = undefined;
    else this.#farFromMs ??= nowMs;
  }

  /** What came back since the last time, and not what was sent: a line that forms takes in more. */
  noteAnswers(answers: number, tickMs: number, nowMs: number): void {
    this.#rates = this.#rates.filter(({ atMs }) => atMs >= nowMs - RATE_KEPT_MS);
    this.#rates.push({ atMs: nowMs, value: (answers * 1_000) / tickMs });
  }

  /** `pause`: no more than now. `cut`: less. */
  get pressure(): 'none' | 'pause' | 'cut' {
    const medianMs = this.#medianMs;
    if (medianMs === undefined || this.#baseMs === undefined) return 'none';
    const ratio = medianMs / this.#baseMs;
    return ratio > CUT_RATIO ? 'cut' : ratio > PAUSE_RATIO ? 'pause' : 'none';
  }

  /** Where calls take longer than is normal: far longer, or for long. */
  fewerThan(cap: number, nowMs: number): Fewer | undefined {
    if (this.pressure === 'cut') {
      // While a line forms, calls take longer and longer: with fewer at once they still might.
      if (nowMs - (this.#farFromMs ?? nowMs) < SETTLED_MS + this.#medianMs!) return undefined;
      // What came back at its best may be from before less could be worked on, and hardly fewer show nothing.
      const room = Math.min(TRIED_SHARE * cap, this.#room || GUESSED_SHARE * cap);
      return { cap: room, inLine: room };
    }
    if (nowMs - (this.#longerFromMs ?? nowMs) < LONGER_MS) return undefined;
    return { cap: TRIED_SHARE * cap, inLine: LINE_SHARE * cap };
  }

  /** What it can work on at a time: as many as it answered at its best, for as long as one takes. */
  get #room(): number {
    const rate = Math.max(0, ...this.#rates.map(({ value }) => value));
    return (FULL_MARGIN * rate * (this.#baseMs ?? 0)) / 1_000;
  }

  /** There are fewer at once from now on, by this share: what comes of it shows what it was. */
  begin(share: number): void {
    this.#trial = { medianMs: this.#medianMs!, share, isBegun: false };
    this.#forget();
  }

  get isTrying(): boolean {
    return this.#trial !== undefined;
  }

  /** To be asked once what came back was called with fewer at once; undefined while there is too little. */
  get verdict(): 'line' | 'slow' | undefined {
    const trial = this.#trial!;
    // What came in before that was called with more.
    if (!trial.isBegun) this.#forget();
    trial.isBegun = true;
    const medianMs = this.#medianMs;
    if (medianMs === undefined) return undefined;
    this.#trial = undefined;
    if (medianMs < (trial.medianMs * (1 + trial.share)) / 2) return 'line';
    this.#baseMs = medianMs;
    return 'slow';
  }

  /** Something else has changed meanwhile. */
  dropTrial(): void {
    this.#trial = undefined;
  }

  get #medianMs(): number | undefined {
    const { count, countMin } = this.#latencies;
    return count < countMin ? undefined : this.#latencies.quantile(0.5);
  }

  #forget(): void {
    this.#latencies.forget();
    this.#longerFromMs = undefined;
    this.#farFromMs = undefined;
  }
}
