/** Answers that are lost on purpose: the server has committed, and whoever asked never hears of it. */
import type { Pair } from './proxy.ts';

/** Statements that change something; which of them is in doubt is left to chance. */
const WRITES = /update step_tracker|insert into (?:step_tracker|run_events)|update pod_health/;
/** The server says that it has committed rows, or nothing, and that it waits for what comes next. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the protocol is binary
const COMMITTED = /(?:SELECT|UPDATE|INSERT 0) [1-9]\d*\x00Z\x00\x00\x00\x05I$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the protocol is binary
const READY = /Z\x00\x00\x00\x05[ITE]$/;

/** On which connection an answer is to be lost, and what of it has come so far. */
interface Doubt {
  pair: Pair | undefined;
  held: Buffer[];
  readonly finish: (wasDropped: boolean) => void;
}

export class Doubts {
  readonly #breakPair: (pair: Pair) => void;
  #doubt: Doubt | undefined;

  constructor(breakPair: (pair: Pair) => void) {
    this.#breakPair = breakPair;
  }

  /** Resolves with whether an answer was lost in time. */
  arm(msMax: number): Promise<boolean> {
    if (this.#doubt) return Promise.resolve(false);
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.disarm(), msMax);
      const finish = (wasDropped: boolean) => {
        clearTimeout(timer);
        this.#doubt = undefined;
        resolve(wasDropped);
      };
      this.#doubt = { pair: undefined, held: [], finish };
    });
  }

  /** Nothing is dropped any more; what was held back arrives after all. */
  disarm(): void {
    const doubt = this.#doubt;
    if (!doubt) return;
    const { pair } = doubt;
    for (const chunk of letGo(doubt)) pair?.down.push(chunk);
    doubt.finish(false);
  }

  asked(pair: Pair, chunk: Buffer): void {
    const doubt = this.#doubt;
    if (doubt && !doubt.pair && WRITES.test(chunk.toString('latin1'))) doubt.pair = pair;
  }

  /** What of it goes on to whoever asked. */
  answered(pair: Pair, chunk: Buffer): readonly Buffer[] {
    const doubt = this.#doubt;
    if (doubt?.pair !== pair) return [chunk];
    doubt.held.push(chunk);
    const said = Buffer.concat(doubt.held).toString('latin1');
    // Where nothing was changed, or it failed, that answer is none to lose.
    if (!COMMITTED.test(said)) return READY.test(said) ? letGo(doubt) : [];
    this.#breakPair(pair);
    doubt.finish(true);
    return [];
  }

  /** The server died before it had committed: there is no answer to lose. */
  ended(pair: Pair): readonly Buffer[] {
    const doubt = this.#doubt;
    if (doubt?.pair !== pair) return [];
    const held = letGo(doubt);
    doubt.finish(false);
    return held;
  }
}

function letGo(doubt: Doubt): readonly Buffer[] {
  const { held } = doubt;
  [doubt.pair, doubt.held] = [undefined, []];
  return held;
}
