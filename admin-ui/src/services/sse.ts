/** Reads server-sent events from bytes. Pure: what comes in pieces goes out whole. */
export interface Told {
  readonly id: string | undefined;
  readonly event: string;
  readonly data: string;
}

/** A line is never so long; whoever sends one is no server of ours. */
const BUFFER_MAX = 64 * 1024 * 1024;

export class SseReader {
  #rest = '';
  #id: string | undefined;
  #event = '';
  #data: string[] = [];

  /** What is complete by now, in order. */
  read(piece: string): Told[] {
    const lines = (this.#rest + piece).split(/\r\n|\n|\r(?!$)/);
    this.#rest = lines.pop() ?? '';
    if (this.#rest.length > BUFFER_MAX) throw new Error('a line of the stream does not end');
    return lines.flatMap((line) => this.#take(line));
  }

  #take(line: string): Told[] {
    if (line === '') return this.#end();
    if (line.startsWith(':')) return [];
    const colon = line.indexOf(':');
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'data') this.#data.push(value);
    else if (field === 'event') this.#event = value;
    else if (field === 'id') this.#id = value;
    return [];
  }

  #end(): Told[] {
    const told = { id: this.#id, event: this.#event || 'message', data: this.#data.join('\n') };
    const isEmpty = this.#data.length === 0;
    this.#event = '';
    this.#data = [];
    return isEmpty ? [] : [told];
  }
}
