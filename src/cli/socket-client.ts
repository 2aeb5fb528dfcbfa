/** Talks to the process that holds a data directory, over its socket. */
import { Agent, type IncomingMessage, request } from 'node:http';
import { createInterface } from 'node:readline';
import type { MachineInfo, Problem } from '../admin/index.ts';
import type { RunSummary } from '../engine/index.ts';
import { showDuration } from '../ground/index.ts';
import type { StoredRecord } from '../journal/index.ts';
import { RemoteError, UnreachableError } from './errors.ts';

export interface Query {
  readonly status?: string | undefined;
  readonly machine?: string | undefined;
  readonly before?: string | undefined;
  readonly limit: number;
}
export interface CancelAnswer {
  readonly isCancelled: boolean;
  readonly outcome: string;
}

/** Looking takes no time, also where a host is busy: who does not answer is stopped, or hangs. */
const READ_TIMEOUT_MS = 15_000;
const WRITE_TIMEOUT_MS = 30_000;
const ANSWER_BYTES_MAX = 256 * 1024 * 1024;
export const WAIT_MS = 20_000;

/** Errors of the connection that say: nobody is there. */
const NOBODY = new Set(['ENOENT', 'ECONNREFUSED', 'ENOTSOCK']);
/** Errors that say: somebody was there when it was asked, and went away. */
const CUT_OFF = new Set(['ECONNRESET', 'EPIPE']);

export class SocketClient {
  readonly #path: string;
  readonly #agent: Agent;

  constructor(path: string, options: { readonly keepAlive?: boolean } = {}) {
    this.#path = path;
    this.#agent = new Agent({ keepAlive: options.keepAlive ?? false });
  }

  close(): void {
    this.#agent.destroy();
  }

  status(): Promise<Record<string, unknown>> {
    return this.#get('/status');
  }
  /** Asks the process to drain; it has heard so when this resolves. */
  drain(): Promise<unknown> {
    return this.#ask('POST', '/drain', {});
  }
  async machines(): Promise<MachineInfo[]> {
    const { machines } = await this.#get<{ machines: MachineInfo[] }>('/machines?source=journal');
    return machines;
  }
  async runs(query: Query): Promise<RunSummary[]> {
    const text = Object.entries(query).flatMap(([name, value]) =>
      value === undefined ? [] : [`${name}=${encodeURIComponent(value)}`],
    );
    return (
      await this.#get<{ runs: RunSummary[] }>(`/runs?${['source=journal', ...text].join('&')}`)
    ).runs;
  }
  run(id: string): Promise<RunSummary> {
    return this.#get(`/runs/${encodeURIComponent(id)}?source=journal`);
  }
  start(machine: string, input: unknown, key?: string | undefined): Promise<RunSummary> {
    return this.#ask('POST', '/runs?source=journal', { machine, input, key });
  }
  cancel(id: string, reason?: string | undefined): Promise<CancelAnswer> {
    return this.#ask('POST', `/runs/${encodeURIComponent(id)}/cancel?source=journal`, { reason });
  }
  /** The run as it is once it has ended, or as it is after `waitMs`. */
  ended(id: string, waitMs: number): Promise<RunSummary> {
    const path = `/runs/${encodeURIComponent(id)}/result?source=journal&waitMs=${Math.ceil(waitMs)}`;
    return this.#ask('GET', path, undefined, waitMs + READ_TIMEOUT_MS);
  }
  async events(id: string, after = -1): Promise<StoredRecord[]> {
    const found: StoredRecord[] = [];
    let [from, hasMore] = [after, true];
    while (hasMore) {
      const path = `/runs/${encodeURIComponent(id)}/events?source=journal&after=${from}`;
      const page = await this.#get<{ events: StoredRecord[]; hasMore: boolean }>(path);
      found.push(...page.events);
      from = page.events.at(-1)?.seq ?? from;
      hasMore = page.hasMore && page.events.length > 0;
    }
    return found;
  }

  /** Records after `after` as they are written; ends with the run, or when the process goes away. */
  async *follow(id: string, after = -1): AsyncGenerator<StoredRecord> {
    const path = `/runs/${encodeURIComponent(id)}/events?source=journal&after=${after}`;
    const answer = await this.#open('GET', path, undefined, { accept: 'text/event-stream' }, 0);
    if (answer.statusCode !== 200) await refuse(answer);
    const lines = createInterface({ input: answer })[Symbol.asyncIterator]();
    try {
      for (;;) {
        const { value: line, done } = await lines.next().catch((cause) => {
          throw unreachable(this.#path, cause);
        });
        if (done) return;
        if (line.startsWith('data: {"')) yield JSON.parse(line.slice(6)) as StoredRecord;
      }
    } finally {
      answer.destroy();
    }
  }

  #get<T>(path: string): Promise<T> {
    return this.#ask('GET', path, undefined, READ_TIMEOUT_MS);
  }

  async #ask<T>(
    method: string,
    path: string,
    body: object | undefined,
    timeoutMs = WRITE_TIMEOUT_MS,
  ): Promise<T> {
    const text = body && JSON.stringify(body);
    const headers = text
      ? { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }
      : {};
    const answer = await this.#open(method, path, text, headers, timeoutMs).catch((error) => {
      throw method === 'GET' || isNobody(error) ? error : inDoubt(error);
    });
    if ((answer.statusCode ?? 500) >= 400) await refuse(answer);
    return (await readBody(answer)) as T;
  }

  #open(
    method: string,
    path: string,
    body: string | undefined,
    headers: Record<string, string | number>,
    timeoutMs: number,
  ): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const options = { socketPath: this.#path, path: `/api/v1${path}`, method, headers };
      const sent = request({ ...options, agent: this.#agent, timeout: timeoutMs }, resolve);
      sent.on('timeout', () =>
        sent.destroy(new Error(`no answer within ${showDuration(timeoutMs)}`)),
      );
      sent.on('error', (cause: NodeJS.ErrnoException) => reject(unreachable(this.#path, cause)));
      sent.end(body);
    });
  }
}

export function isNobody(error: unknown): boolean {
  return isOneOf(NOBODY, error);
}

export function isCutOff(error: unknown): boolean {
  return isOneOf(CUT_OFF, error);
}

function isOneOf(codes: ReadonlySet<string>, error: unknown): boolean {
  const cause = error instanceof UnreachableError ? (error.cause as { code?: string }) : undefined;
  return cause?.code !== undefined && codes.has(cause.code);
}

function unreachable(path: string, cause: NodeJS.ErrnoException): UnreachableError {
  return new UnreachableError(`no process answers on ${path}: ${cause.message}`, {
    cause,
    hint: 'see who holds the data directory with: fleetq doctor',
  });
}

/** What was asked for may have been done: who asked must look before asking again. */
function inDoubt(cause: Error): UnreachableError {
  return new UnreachableError(
    `the process went away before it answered, and may have done what was asked: ${cause.message}`,
    { cause, hint: 'look before you ask again, with: fleetq runs' },
  );
}

async function refuse(answer: IncomingMessage): Promise<never> {
  const problem = (await readBody(answer)) as Problem & { hint?: string };
  throw new RemoteError(problem);
}

async function readBody(answer: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > ANSWER_BYTES_MAX) break;
      chunks.push(chunk);
    }
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch (cause) {
    throw new UnreachableError('the process went away in the middle of its answer', { cause });
  }
}
