/**
 * Whether calls wait in line on the other side, which only their latency tells: against the least there
 * ever was, since nobody says what is normal. But calls may also take longer because there is more to do for
 * each, as with longer texts. So fewer at once are tried for a while: those who waited in line take less
 * then, by as much as there are fewer; the others take as long as before, and that is what is normal from
 * then on. It never becomes so just by lasting, or a line would; and as a line may have grown meanwhile,
 * fewer are tried once more. What calls take may waver by itself by as much: then nothing is proved, and
 * what was before holds again, since too few for long cost more than a short line.
 */
import { Latencies, type LatencyCounts } from '../record/latencies.ts';
import { Wavering } from './wavering.ts';

const CALLS_MIN = 90;
const CALLS_MAX = 900;
/** So many calls for a mean that is right within a twentieth, by the square of their spread. */
const CALLS_BY_SPREAD = 625;
const RATE_KEPT_MS = 20_000;
/** So much longer than normal, as a logarithm. */
const PAUSE = Math.log(1.18);
const CUT = Math.log(1.45);
/** A little more than what the API works on at a time keeps it at work. */
const FULL_MARGIN = 1.15;
const FEW_MARGIN = 1.15;
/** Where nothing has come back lately. */
const GUESSED_SHARE = 0.7;
/** Beside the time of a call: so long a line forms that is not seen at once. */
const SETTLED_MS = 4_000;
/** Beside some calls: so long after a trial, calls still take less or more because of it. */
const RESTLESS_MS = 15_000;
/** Calls that took a little longer for so long either wait in line or are other calls than before. */
const LONGER_MS = 60_000;
/** So many at once show which it is; so many are enough where the line was short. */
const TRIED_SHARE = 0.8;
const LINE_SHARE = 0.92;
/** After fewer were tried in vain: twice as long each time, unless calls take far longer than then. */
const PATIENCE_MS = 20_000;
const PATIENCE_MS_MAX = 480_000;
const FAR_LONGER = 1.5;
/** Beside some calls: after so long it is judged by what came by then, where that is clear. */
const TRIAL_MS = 20_000;
/** Nor does it go on for longer, whatever came. */
const TRIAL_MS_MAX = 40_000;
const CLEAR_CALLS_MIN = 12;
const CLEAR_ERRORS = 2.5;
/** What calls took before may have been about to change. */
const CLEAR_LOG = 0.1;
/** What falls by itself by so much may have done so just then: more at once are to take longer again. */
const MUCH_WAVERING = Math.log(1.2);

/** What is to be tried. */
export interface Fewer {
  readonly cap: number;
  /** What is enough where there was a line. */
  readonly inLine: number;
}

interface Trial {
  /** What calls took before there were fewer. */
  readonly ms: number;
  /** Of what there were at once before. */
  readonly share: number;
  /** There were no fewer than these. */
  readonly least: number;
  /** Whether to see calls take longer again, with more at once, before it is taken for a line. */
  readonly isDoubtful: boolean;
  /** By how much less they took with fewer at once, as a logarithm, where more are tried since. */
  readonly fall: number;
  /** Since when what comes back was called so. */
  fromMs?: number;
}

/** What was normal before calls took so long. */
interface Doubt {
  readonly baseMs: number;
  readonly ms: number;
}

export class QueueWatch {
  readonly #latencies = new Latencies(CALLS_MIN);
  readonly #wavering = new Wavering();
  #baseMs: number | undefined;
  #rates: { readonly atMs: number; readonly value: number }[] = [];
  #longerFromMs: number | undefined;
  #farFromMs: number | undefined;
  #trial: Trial | undefined;
  /** The last one that looked like a line. */
  #fewer: Trial | undefined;
  #doubt: Doubt | undefined;
  /** Tried in vain: how often, what calls took, and until when it is left at that. */
  #vain = { count: 0, ms: 0, untilMs: Number.NEGATIVE_INFINITY };
  #notedMs = 0;
  #spread = 0;
  /** Too few calls came to tell: no more are tried before it is known again what they take. */
  #isUnclear = false;

  /** With what was normal to whoever watched before: a line that is there by now would be, else. */
  constructor(baseMs?: number | undefined) {
    this.#baseMs = baseMs;
  }

  /** What is normal; undefined while that is not known. */
  get baseMs(): number | undefined {
    return this.#doubt?.baseMs ?? this.#baseMs;
  }

  /** It was found out what is normal, by so few calls that it may be more. */
  restart(ms: number): void {
    this.#baseMs = ms * FEW_MARGIN;
    this.#wavering.restart(this.#notedMs + RESTLESS_MS + 4 * ms);
    this.#forget();
  }

  noteLatencies(latencies: LatencyCounts, nowMs: number): void {
    this.#latencies.recordCounts(latencies);
    this.#notedMs = nowMs;
    const ms = this.#ms;
    if (ms === undefined) return;
    this.#isUnclear = false;
    this.#spread = Math.log(this.#latencies.quantile(0.84)! / this.#latencies.quantile(0.16)!) / 2;
    const wanted = Math.ceil(CALLS_BY_SPREAD * this.#spread ** 2);
    this.#latencies.countMin = Math.min(CALLS_MAX, Math.max(CALLS_MIN, wanted));
    if (!this.#trial) this.#wavering.note(ms, nowMs);
    this.#baseMs = Math.min(this.#baseMs ?? ms, ms);
    if (this.#doubt && ms < this.#doubt.baseMs * Math.exp(PAUSE)) this.#doubt = undefined;
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

  /** Whether that is far longer than normal, by whatever few calls took. */
  isFar(ms: number | undefined): boolean {
    if (ms === undefined || this.#baseMs === undefined) return false;
    return Math.log(ms / this.#baseMs) > Math.max(CUT, PAUSE + this.#wavering.most);
  }

  /** `pause`: no more than now. `cut`: less. */
  get pressure(): 'none' | 'pause' | 'cut' {
    const ms = this.#ms;
    if (ms === undefined && this.#isUnclear) return 'pause';
    if (ms === undefined || this.#baseMs === undefined) return 'none';
    if (this.isFar(ms)) return 'cut';
    const longer = Math.log(ms / this.#baseMs);
    return longer > Math.max(PAUSE, this.#wavering.most) ? 'pause' : 'none';
  }

  /** Where calls take longer than is normal: far longer, or for long. */
  fewerThan(cap: number, nowMs: number): Fewer | undefined {
    const ms = this.#ms;
    const { untilMs, ms: vainMs } = this.#vain;
    if (ms === undefined || (nowMs < untilMs && ms < FAR_LONGER * vainMs)) return undefined;
    if (this.#doubt) return this.#tried(cap, this.#doubt.baseMs);
    if (this.pressure === 'cut') {
      // While a line forms, calls take longer and longer: with fewer at once they still might.
      if (nowMs - (this.#farFromMs ?? nowMs) < SETTLED_MS + ms) return undefined;
      return this.#tried(cap, this.#baseMs!);
    }
    if (this.pressure === 'none' || nowMs - (this.#longerFromMs ?? nowMs) < LONGER_MS) {
      return undefined;
    }
    return { cap: TRIED_SHARE * cap, inLine: LINE_SHARE * cap };
  }

  /** What it can work on at a time: as many as it answered at its best, for as long as one takes. */
  #tried(cap: number, baseMs: number): Fewer {
    const rate = Math.max(0, ...this.#rates.map(({ value }) => value));
    const room = (FULL_MARGIN * rate * baseMs) / 1_000;
    // What came back at its best may be from before less could be worked on, and hardly fewer show nothing.
    const tried = Math.min(TRIED_SHARE * cap, room || GUESSED_SHARE * cap);
    return { cap: tried, inLine: tried };
  }

  /**
   * There are fewer at once from now on, by this share: what comes of it shows what it was. Doubtful where
   * there were no more than last time, when fewer were enough: it may have fallen by itself both times.
   */
  begin(share: number, { least = share, isDoubtful = false } = {}): void {
    this.#trial = { ms: this.#ms!, share, least, isDoubtful, fall: 0 };
    this.#forget();
  }

  /** There are more at once again, by this share. */
  beginAgain(share: number): void {
    const fall = Math.log(this.#fewer!.ms / this.#ms!);
    this.#trial = { ms: this.#ms!, share, least: share, isDoubtful: false, fall };
    this.#forget();
  }

  get isTrying(): boolean {
    return this.#trial !== undefined;
  }

  /** To be asked once what came back was called with fewer at once; undefined while there is too little. */
  get verdict(): 'line' | 'again' | 'slow' | 'unsure' | undefined {
    const trial = this.#trial!;
    // What came in before that was called with more.
    if (trial.fromMs === undefined) this.#forget();
    trial.fromMs ??= this.#notedMs;
    const triedMs = this.#notedMs - trial.fromMs - 3 * trial.ms;
    const isRise = trial.share > 1;
    const middleMs = (trial.ms * (1 + trial.share)) / 2;
    const ms = this.#ms ?? (triedMs > TRIAL_MS ? this.#clearMs(middleMs) : undefined);
    const isOver = triedMs > TRIAL_MS_MAX && this.#latencies.countMin > CALLS_MIN;
    if (ms === undefined && !isOver) return undefined;
    this.#isUnclear = ms === undefined;
    this.dropTrial();
    if (ms === undefined) {
      this.#inVain(trial.ms);
      return 'unsure';
    }
    const isAsInLine = isRise ? ms > middleMs : ms < middleMs;
    const { most } = this.#wavering;
    const fall = Math.log(trial.ms / ms);
    // In a line as many are answered as before: more would be no line's doing.
    const isTooMuch = !isRise && fall > PAUSE - Math.log(trial.least);
    if (isAsInLine && !isTooMuch && (isRise || fall > most)) {
      this.#fewer = trial;
      if (!isRise && (trial.isDoubtful || most > MUCH_WAVERING)) return 'again';
      this.#baseMs = Math.min(this.baseMs ?? ms, ms);
      this.#doubt = undefined;
      this.#vain = { count: 0, ms: 0, untilMs: Number.NEGATIVE_INFINITY };
      return 'line';
    }
    if (isRise || isTooMuch) this.#wavering.most = Math.max(most, isRise ? trial.fall : fall);
    this.#inVain(trial.ms);
    if (isAsInLine || isRise) return 'unsure';
    this.#takeForNormal(ms);
    return 'slow';
  }

  #inVain(ms: number): void {
    const { count } = this.#vain;
    const patienceMs = Math.min(PATIENCE_MS_MAX, PATIENCE_MS * 2 ** count);
    this.#vain = { count: count + 1, ms, untilMs: this.#notedMs + patienceMs };
  }

  /** Twice the same is no line that grew by as much as there were fewer. */
  #takeForNormal(ms: number): void {
    const doubt = this.#doubt;
    const isSame =
      doubt && Math.abs(Math.log(ms / doubt.ms)) < Math.max(PAUSE, this.#wavering.most);
    const baseMs = this.baseMs ?? ms;
    this.#doubt = isSame || ms <= baseMs ? undefined : { baseMs, ms };
    this.#baseMs = ms;
  }

  /** Something else has changed meanwhile. */
  dropTrial(): void {
    if (this.#trial) this.#wavering.restart(this.#notedMs + RESTLESS_MS + 4 * this.#trial.ms);
    this.#trial = undefined;
  }

  get #ms(): number | undefined {
    const { count, countMin } = this.#latencies;
    return count < countMin ? undefined : this.#latencies.typicalMs;
  }

  /** What the calls took that there were, if that is clearly more or less. */
  #clearMs(thanMs: number): number | undefined {
    const { count, countMin, typicalMs: ms } = this.#latencies;
    if (ms === undefined || count < CLEAR_CALLS_MIN || countMin === CALLS_MIN) return undefined;
    const error = this.#spread / Math.sqrt(count);
    const isClear = Math.abs(Math.log(ms / thanMs)) > CLEAR_LOG + CLEAR_ERRORS * error;
    return isClear ? ms : undefined;
  }

  #forget(): void {
    this.#latencies.forget();
    this.#longerFromMs = undefined;
    this.#farFromMs = undefined;
  }
}
