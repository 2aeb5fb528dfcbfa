/**
 * A client of the stream as people would write one: it goes on where it was, and takes what it is told
 * at its word. Whatever does not come next is kept as a complaint.
 */
import { type IncomingMessage, request } from 'node:http';

export interface ToldRecord {
  readonly run: string;
  readonly generation: number;
  readonly seq: number;
  readonly at: number;
  readonly epoch: number;
  readonly state: string;
  readonly hash: string;
  readonly event: unknown;
}

export interface Told {
  readonly event: string;
  readonly id: string | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: the shape is what is being tested
  readonly data: any;
}

export class StreamClient {
  readonly records = new Map<string, ToldRecord[]>();
  readonly complaints: string[] = [];
  /** How often each event was told. */
  readonly counts: Record<string, number> = {};
  /** The newest status of every run that the list told of. */
  readonly listed = new Map<string, string>();
  lastEventId: string | undefined;
  connections = 0;
  /** Whoever answers now. */
  socket: string | undefined;
  #isOver = false;
  #answer: IncomingMessage | undefined;
  readonly #topics: string;

  constructor(topics: string) {
    this.#topics = topics;
  }

  get count(): number {
    return [...this.records.values()].reduce((sum, { length }) => sum + length, 0);
  }

  /** Asks one after the other until it is over; `next` says whom. */
  async run(next: () => string): Promise<void> {
    while (!this.#isOver) {
      await this.#once(next()).catch(() => undefined);
      this.socket = undefined;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  end(): void {
    this.#isOver = true;
    this.#answer?.destroy();
  }

  async #once(socket: string): Promise<void> {
    const headers = this.lastEventId ? { 'last-event-id': this.lastEventId } : {};
    const path = `/api/v1/stream?topics=${this.#topics}`;
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      request({ socketPath: socket, path, headers, agent: false }, resolve)
        .on('error', reject)
        .end();
    });
    this.#answer = answer;
    if (answer.statusCode !== 200) {
      this.#count(`status ${answer.statusCode}`);
      return void answer.destroy();
    }
    this.connections++;
    this.socket = socket;
    for await (const told of eventsOf(answer)) this.take(told);
  }

  take({ event, id, data }: Told): void {
    this.#count(event);
    if (id !== undefined) this.lastEventId = id;
    if (event === 'record') this.#takeRecord(data);
    if (event === 'rewind') this.#rewind(data);
    if (event === 'runs') {
      for (const { id: run, task } of data.changes) if (task) this.listed.set(run, task.status);
    }
    if (event === 'broken') this.complaints.push(`broken: ${JSON.stringify(data)}`);
  }

  #takeRecord(record: ToldRecord): void {
    const own = this.records.get(record.run) ?? [];
    this.records.set(record.run, own);
    const last = own.at(-1);
    const isNext = record.seq === own.length;
    const isSame = last === undefined || last.generation === record.generation;
    if (!isNext || !isSame) {
      const after = last ? `${last.generation}/${last.seq}` : 'nothing';
      this.complaints.push(`${record.run}: ${record.generation}/${record.seq} after ${after}`);
    }
    own.push(record);
  }

  #rewind({ run, generation, after }: { run: string; generation?: number; after: number }): void {
    const own = this.records.get(run) ?? [];
    const isSame = own[0]?.generation === generation;
    this.records.set(run, isSame ? own.slice(0, after + 1) : []);
  }

  #count(what: string): void {
    this.counts[what] = (this.counts[what] ?? 0) + 1;
  }
}

/** The events of a stream as they come; one that was cut off in the middle is none. */
export async function* eventsOf(answer: IncomingMessage): AsyncGenerator<Told> {
  let text = '';
  for await (const chunk of answer.setEncoding('utf8')) {
    text += chunk;
    const parts = text.split('\n\n');
    text = parts.pop() ?? '';
    for (const part of parts) {
      const data = /^data: (.*)$/m.exec(part)?.[1];
      const event = /^event: (.*)$/m.exec(part)?.[1] ?? 'message';
      const id = /^id: (.*)$/m.exec(part)?.[1];
      if (data !== undefined) yield { event, id, data: JSON.parse(data) };
    }
  }
}
