/**
 * Counts, from outside, what became of every task that was acknowledged: by a ledger that the samples
 * write and sync themselves, and by the rows of the store. A task is lost that the store no longer
 * has, or that is completed without its line; one with two lines was doubled.
 */
import { closeSync, existsSync, fstatSync, openSync, readSync, rmSync } from 'node:fs';
import type { RunId } from '../../ground/index.ts';
import type { Store, TaskRow } from '../../store/index.ts';

export interface Verdict {
  readonly acknowledged: number;
  readonly underWay: number;
  readonly lost: readonly string[];
  readonly doubled: readonly string[];
}

const FIND_COUNT_MAX = 500;
const READ_BYTES = 64 * 1024;
/** Older than what is still under way, it tells nothing: then it begins anew. */
const LEDGER_BYTES_MAX = 8 * 1024 * 1024;
/** Machines that leave a line; the others are known by the store alone. */
const KEEPS_LEDGER = /^sample\//;

export class Verifier {
  readonly #store: Pick<Store, 'find'>;
  readonly #ledger: string;
  readonly #known = new Set<RunId>();
  readonly #open = new Set<RunId>();
  readonly #lines = new Map<string, number>();
  readonly #lost = new Set<string>();
  readonly #doubled = new Set<string>();
  #offset = 0;
  #rest = '';

  constructor(store: Pick<Store, 'find'>, ledger: string) {
    this.#store = store;
    this.#ledger = ledger;
    this.#read();
    if (this.#offset <= LEDGER_BYTES_MAX) return;
    rmSync(ledger);
    this.#offset = 0;
  }

  /** The store has said that it has it. */
  acknowledge(id: RunId): void {
    if (this.#known.has(id)) return;
    this.#known.add(id);
    this.#open.add(id);
  }

  get verdict(): Verdict {
    return {
      acknowledged: this.#known.size,
      underWay: this.#open.size,
      lost: [...this.#lost],
      doubled: [...this.#doubled],
    };
  }

  /** Looks at everything that had not ended when it was looked at last. */
  async look(): Promise<Verdict> {
    const ids = [...this.#open];
    for (let from = 0; from < ids.length; from += FIND_COUNT_MAX) {
      const page = ids.slice(from, from + FIND_COUNT_MAX);
      const rows = new Map((await this.#store.find(page)).map((row) => [row.id, row]));
      // The line comes before the record of it, and that before the row: so it is read after.
      this.#read();
      for (const id of page) this.#judge(id, rows.get(id));
    }
    this.#read();
    return this.verdict;
  }

  #judge(id: RunId, row: TaskRow | undefined): void {
    if (row && row.finishedAt === undefined) return;
    this.#open.delete(id);
    const wants = row?.outcome === 'completed' && KEEPS_LEDGER.test(row.machine);
    if (!row || (wants && !this.#lines.has(id))) this.#lost.add(id);
  }

  #read(): void {
    if (!existsSync(this.#ledger)) return;
    const fd = openSync(this.#ledger, 'r');
    try {
      const { size } = fstatSync(fd);
      const buffer = Buffer.alloc(READ_BYTES);
      while (this.#offset < size) {
        const count = readSync(fd, buffer, 0, READ_BYTES, this.#offset);
        if (count === 0) return;
        this.#offset += count;
        this.#count(buffer.toString('utf8', 0, count));
      }
    } finally {
      closeSync(fd);
    }
  }

  #count(text: string): void {
    const lines = `${this.#rest}${text}`.split('\n');
    this.#rest = lines.pop() ?? '';
    for (const run of lines) {
      const count = (this.#lines.get(run) ?? 0) + 1;
      this.#lines.set(run, count);
      if (count > 1) this.#doubled.add(run);
    }
  }
}

/** 'lost 0, doubled 0 of 120 acknowledged, 7 under way'. */
export function verdictText({ acknowledged, underWay, lost, doubled }: Verdict): string {
  const under = underWay > 0 ? `, ${underWay} under way` : '';
  return `lost ${lost.length}, doubled ${doubled.length} of ${acknowledged} acknowledged${under}`;
}
