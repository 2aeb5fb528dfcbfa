/** A count, with some of what it counts in words. */
const EXAMPLES_MAX = 20;

export class Tally {
  count = 0;
  readonly examples: string[] = [];

  add(...words: readonly string[]): void {
    this.count += words.length;
    this.examples.push(...words.slice(0, Math.max(0, EXAMPLES_MAX - this.examples.length)));
  }
}
