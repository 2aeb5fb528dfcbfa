/** The pods as the store has them: whoever looks gets all of them first, then those that changed. */
import type { PodRow } from '../../store/index.ts';

export interface PodsTold {
  readonly isWhole: boolean;
  readonly pods: readonly PodRow[];
  /** Those that are not there any more. */
  readonly gone: readonly string[];
}

/** Where there is no store there are none. */
export const NO_PODS: PodsTold = { isWhole: true, pods: [], gone: [] };

export class PodList {
  #rows: readonly PodRow[] | undefined;
  #keys = new Map<string, string>();

  /** Undefined where nobody has looked yet. */
  get whole(): PodsTold | undefined {
    return this.#rows && { isWhole: true, pods: this.#rows, gone: [] };
  }

  /** Undefined where nothing has changed. */
  seen(rows: readonly PodRow[]): PodsTold | undefined {
    const keys = new Map(rows.map((row) => [row.pod as string, keyOf(row)]));
    const pods = rows.filter(({ pod }) => this.#keys.get(pod) !== keys.get(pod));
    const gone = [...this.#keys.keys()].filter((pod) => !keys.has(pod));
    const isFirst = this.#rows === undefined;
    this.#rows = rows;
    this.#keys = keys;
    if (!isFirst && pods.length === 0 && gone.length === 0) return undefined;
    return { isWhole: isFirst, pods, gone };
  }

  forget(): void {
    this.#rows = undefined;
    this.#keys.clear();
  }
}

/** Without what changes by itself. */
function keyOf({ silentMs: _silentMs, ...row }: PodRow): string {
  return JSON.stringify(row);
}
