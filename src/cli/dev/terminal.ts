/** The terminal while a live table is on it: a screen of its own, keys one by one, and put back after. */

const ESC = '\u001b[';
// Another screen, no cursor, and lines that are cut rather than wrapped.
const ENTER = `${ESC}?1049h${ESC}?25l${ESC}?7l`;
const LEAVE = `${ESC}?7h${ESC}?25h${ESC}?1049l`;
const HOME = `${ESC}H`;
const CLEAR_LINE = `${ESC}K`;
const CLEAR_BELOW = `${ESC}J`;

export class Terminal {
  #isOpen = false;
  #last = '';
  readonly #close = () => this.close();
  readonly #onResize: () => void;
  readonly #onKey: (key: string) => void;

  constructor(on: { readonly key: (key: string) => void; readonly resize: () => void }) {
    this.#onKey = on.key;
    this.#onResize = () => {
      this.#last = '';
      on.resize();
    };
  }

  get size(): { readonly columns: number; readonly rows: number } {
    return { columns: process.stdout.columns ?? 80, rows: process.stdout.rows ?? 24 };
  }

  open(): void {
    this.#isOpen = true;
    process.stdout.write(ENTER);
    process.stdin.setRawMode(true).setEncoding('utf8').resume();
    process.stdin.on('data', this.#onKey);
    process.stdout.on('resize', this.#onResize);
    // Whatever ends the process, the terminal is the user's.
    process.on('exit', this.#close);
  }

  draw(lines: readonly string[]): void {
    const text = `${HOME}${lines.map((line) => `${line}${CLEAR_LINE}`).join('\r\n')}${CLEAR_BELOW}`;
    if (!this.#isOpen || text === this.#last) return;
    this.#last = text;
    process.stdout.write(text);
  }

  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    process.stdin.off('data', this.#onKey);
    process.stdin.setRawMode(false).pause();
    process.stdout.off('resize', this.#onResize);
    process.off('exit', this.#close);
    process.stdout.write(LEAVE);
  }
}
