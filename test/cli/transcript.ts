/** What a command has said so far, on both of its streams, for tests that wait for a part of it. */
export class Transcript {
  stdout = '';
  stderr = '';
  readonly #waiting = new Set<() => void>();

  add(stream: 'stdout' | 'stderr', text: string): void {
    this[stream] += text;
    for (const look of this.#waiting) look();
  }

  /** The first match in what stdout, or else stderr, says; rejects where it ends without one. */
  said(pattern: RegExp, ended: Promise<unknown>): Promise<RegExpExecArray> {
    return new Promise((resolve, reject) => {
      const look = () => {
        const match = pattern.exec(this.stdout) ?? pattern.exec(this.stderr);
        if (!match) return;
        this.#waiting.delete(look);
        resolve(match);
      };
      this.#waiting.add(look);
      look();
      ended.then(() =>
        reject(new Error(`ended without ${pattern}:\n${this.stdout}\n${this.stderr}`)),
      );
    });
  }
}
