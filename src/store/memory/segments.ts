/** The segments of all histories, reached by their keys and, without looking at the others, by task. */
import type { RunId } from '../../ground/index.ts';
import type { Segment } from '../tasks.ts';

export class Segments extends Map<string, Segment> {
  readonly #keysOf = new Map<RunId, Set<string>>();

  /** Those of one task, of all its generations, in the order in which they came first. */
  of(task: RunId): Segment[] {
    return [...(this.#keysOf.get(task) ?? [])].map((key) => this.get(key)!);
  }

  override set(key: string, segment: Segment): this {
    const keys = this.#keysOf.get(segment.task);
    if (keys) keys.add(key);
    else this.#keysOf.set(segment.task, new Set([key]));
    return super.set(key, segment);
  }

  override delete(key: string): boolean {
    const task = this.get(key)?.task;
    const keys = task && this.#keysOf.get(task);
    if (keys) {
      keys.delete(key);
      if (keys.size === 0) this.#keysOf.delete(task);
    }
    return super.delete(key);
  }

  override clear(): void {
    this.#keysOf.clear();
    super.clear();
  }
}
