/** How far a long command is: a bar on stderr where that is a terminal, and nothing elsewhere. */
import { statSync } from 'node:fs';
import { pathFrom } from '../../config/index.ts';
import { type Clock, showDuration } from '../../ground/index.ts';
import type { Io, OutStream } from '../io.ts';
import { type Paint, painterFor } from '../paint.ts';

const DRAW_EVERY_MS = 100;
const BAR_WIDTH = 24;
const CLEAR_LINE = '\r\u001b[K';

export class Progress {
  readonly #verb: string;
  readonly #clock: Clock;
  readonly #bytesAll: number | undefined;
  readonly #stderr: OutStream;
  readonly #paint: Paint;
  readonly #begunMs: number;
  #drawnMs = Number.NEGATIVE_INFINITY;
  #count = 0;

  constructor(file: string, verb: string, clock: Clock, { stderr, env, cwd }: Io) {
    this.#verb = verb;
    this.#clock = clock;
    this.#stderr = stderr;
    this.#paint = painterFor(stderr, env);
    this.#begunMs = clock.monotonicMs();
    const path = pathFrom(cwd, file);
    this.#bytesAll = file === '-' ? undefined : statSync(path, { throwIfNoEntry: false })?.size;
  }

  advance(count: number, bytes: number): void {
    this.#count = count;
    const nowMs = this.#clock.monotonicMs();
    if (!this.#stderr.isTTY || nowMs - this.#drawnMs < DRAW_EVERY_MS) return;
    this.#drawnMs = nowMs;
    const text = progressText(
      { count, verb: this.#verb, elapsedMs: nowMs - this.#begunMs },
      this.#bytesAll ? bytes / this.#bytesAll : undefined,
    );
    this.#stderr.write(`${CLEAR_LINE}${this.#paint('cyan', text)}`);
  }

  /** Takes the bar away. */
  end(): void {
    if (this.#stderr.isTTY && this.#drawnMs > 0) this.#stderr.write(CLEAR_LINE);
  }

  /** ' in 1.2 s, 8,300 a second'. */
  rate(): string {
    const elapsedMs = this.#clock.monotonicMs() - this.#begunMs;
    return ` in ${showDuration(elapsedMs)}, ${perSecond(this.#count, elapsedMs)} a second`;
  }
}

/** A line on stderr that stays where it is; nothing where that is no terminal. */
export class Live {
  readonly #stderr: OutStream;
  readonly #paint: Paint;
  #isDrawn = false;

  constructor({ stderr, env }: Pick<Io, 'stderr' | 'env'>) {
    this.#stderr = stderr;
    this.#paint = painterFor(stderr, env);
  }

  draw(text: string): void {
    if (!this.#stderr.isTTY) return;
    this.#isDrawn = true;
    this.#stderr.write(`${CLEAR_LINE}${this.#paint('cyan', text)}`);
  }

  end(): void {
    if (this.#isDrawn) this.#stderr.write(CLEAR_LINE);
    this.#isDrawn = false;
  }
}

/** '[██████░░] 45 %  4,500 enqueued  2,300/s  2 s left'; without a share where the end is unknown. */
export function progressText(
  done: { readonly count: number; readonly verb: string; readonly elapsedMs: number },
  share: number | undefined,
): string {
  const { count, verb, elapsedMs } = done;
  const facts = `${count.toLocaleString('en')} ${verb}  ${perSecond(count, elapsedMs)}/s`;
  if (share === undefined) return facts;
  const full = Math.round(Math.min(1, share) * BAR_WIDTH);
  const bar = `${'█'.repeat(full)}${'░'.repeat(BAR_WIDTH - full)}`;
  const percent = `${Math.floor(Math.min(1, share) * 100)} %`.padStart(5);
  const leftMs = share > 0 ? (elapsedMs * (1 - share)) / share : 0;
  const left = share < 1 && elapsedMs > 1_000 ? `  ${showDuration(leftMs)} left` : '';
  return `${bar} ${percent}  ${facts}${left}`;
}

function perSecond(count: number, elapsedMs: number): string {
  return Math.round(count / Math.max(0.001, elapsedMs / 1_000)).toLocaleString('en');
}
