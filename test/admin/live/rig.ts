/** A hub with a journal, a store and clients that a test holds in its hands. */
import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { LiveHub, type LiveStore, type Sources } from '../../../src/admin/live/index.ts';
import { hash, type RunId } from '../../../src/ground/index.ts';
import { CHAIN_START, type EventRow, type StoredRecord } from '../../../src/journal/index.ts';
import type { PodRow, Segment, TaskGlance, Watch, WatchQuery } from '../../../src/store/index.ts';
import { recordsInText } from '../../../src/store/outlines.ts';
import { watchOf } from '../../../src/store/watch.ts';
import { tell } from '../../../src/telemetry/events.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import type { Told } from '../stream-client.ts';

export const MACHINE = { machine: 'test/one', version: 1 };

export function runIdOf(n: number): RunId {
  return `01J0000000000000000000${String(n).padStart(4, '0')}` as RunId;
}

/** A client's end of the connection: takes everything, or nothing while it is `isFull`. */
export class FakeResponse extends EventEmitter {
  readonly headers: Record<string, string> = {};
  text = '';
  writes = 0;
  isFull = false;
  destroyed = false;
  hasEnded = false;

  writeHead(_status: number, headers: Record<string, string>): void {
    Object.assign(this.headers, headers);
  }
  flushHeaders(): void {}
  write(text: string): boolean {
    this.writes++;
    this.text += text;
    return !this.isFull;
  }
  end(text = ''): void {
    this.text += text;
    this.hasEnded = true;
    this.close();
  }
  destroy(): void {
    this.close();
  }
  close(): void {
    if (this.destroyed) return;
    this.destroyed = true;
    this.emit('close');
  }
  drain(): void {
    this.isFull = false;
    this.emit('drain');
  }

  get told(): Told[] {
    return this.text.split('\n\n').flatMap((part) => {
      const data = /^data: (.*)$/m.exec(part)?.[1];
      if (data === undefined) return [];
      const event = /^event: (.*)$/m.exec(part)?.[1] ?? 'message';
      return [{ event, id: /^id: (.*)$/m.exec(part)?.[1], data: JSON.parse(data) }];
    });
  }
  of(event: string): Told['data'][] {
    return this.told.filter((told) => told.event === event).map(({ data }) => data);
  }
  get lastId(): string {
    return this.told.at(-1)!.id!;
  }
}

/** Records behind `before`, written by the owner of this epoch. */
export function grow(before: readonly StoredRecord[], epoch: number, count: number, bytes = 1) {
  const records = [...before];
  for (let index = 0; index < count; index++) {
    const seq = records.length;
    const prev = records.at(-1)?.hash ?? CHAIN_START;
    const event = { type: 'DONE', output: 'x'.repeat(bytes) } as unknown as StoredRecord['event'];
    const own = hash(`${prev} ${epoch} ${seq}`);
    records.push({ seq, lsn: 9, at: seq, epoch, event, state: 'main.work', hash: own });
  }
  return records;
}

export class Rig {
  readonly clock = new FakeClock();
  readonly journal = new Map<RunId, { generation?: number; records: StoredRecord[] }>();
  readonly tasks = new Map<RunId, TaskGlance>();
  readonly archive = new Map<RunId, readonly StoredRecord[]>();
  readonly asked = { watch: 0, outlines: 0, pods: 0 };
  pods: PodRow[] = [];
  isAway = false;
  readonly sources: Sources;
  hub: LiveHub;

  constructor(options: { readonly hasStore?: boolean } = {}) {
    this.sources = {
      local: {
        journal: 'journal-here',
        pod: () => 'pod-here' as never,
        find: (run) => {
          const own = this.journal.get(run);
          return own && { generation: own.generation, hasEnded: false };
        },
        page: (run, after) => this.journal.get(run)!.records.slice(after + 1),
        lastSeq: (run) => this.journal.get(run)!.records.length - 1,
      },
      store: options.hasStore ? async () => this.#store : undefined,
      decode: (_, rows) => rows.map(recordOf),
    };
    this.hub = this.anotherHub('aa');
  }

  /** As another process would have it. */
  anotherHub(teller: string): LiveHub {
    return new LiveHub({ clock: this.clock, sources: this.sources, teller });
  }

  async stream(topics: string, lastEventId?: string, hub = this.hub): Promise<FakeResponse> {
    const response = new FakeResponse();
    await hub.stream({ topics, lastEventId }, response as unknown as ServerResponse);
    await this.clock.advance(60);
    return response;
  }

  /** The journal has another record of the run, and says so. */
  record(run: RunId, epoch = 1, bytes = 1): void {
    const own = this.journal.get(run) ?? { records: [] };
    const prevHash = own.records.at(-1)?.hash ?? CHAIN_START;
    own.records.push(grow(own.records, epoch, 1, bytes).at(-1)!);
    this.journal.set(run, own);
    const { lsn: _, ...last } = own.records.at(-1)!;
    tell('run.recorded', () => ({
      run,
      ...MACHINE,
      ...last,
      generation: own.generation,
      prevHash,
      from: 'main.work',
      startedAt: 0,
      attempt: 1,
    }));
  }

  /** The task's row, as somebody changed it now. */
  task(id: RunId, part: Partial<TaskGlance>): void {
    const before = this.tasks.get(id) ?? ({ id, generation: 1, status: 'pending' } as TaskGlance);
    this.tasks.set(id, { ...before, ...part, updatedAt: this.clock.now() });
  }

  get #store(): LiveStore {
    const away = () => {
      if (this.isAway) throw new Error('away');
    };
    return {
      watch: async (query) => {
        this.asked.watch++;
        away();
        return this.#watch(query);
      },
      outlines: async (runs) => {
        this.asked.outlines++;
        away();
        return runs.flatMap(({ task, generation }) => this.#segments(task, generation));
      },
      recordsIn: async (part) => {
        away();
        const { task, generation, epoch } = part;
        const own = this.#segments(task, generation).find((segment) => segment.epoch === epoch);
        return own ? recordsInText(own.events, part) : [];
      },
      pods: async () => {
        this.asked.pods++;
        away();
        return this.pods;
      },
    };
  }

  #watch(query: WatchQuery): Watch {
    const { followed, sinceMs } = query;
    const tasks = [...this.tasks.values()].filter(
      ({ id, updatedAt }) =>
        followed.includes(id) || (sinceMs !== undefined && updatedAt >= sinceMs),
    );
    const heads = followed.flatMap((run) => {
      const last = this.archive.get(run)?.at(-1);
      if (!last) return [];
      const { generation } = this.tasks.get(run)!;
      return [{ task: run, generation, epoch: last.epoch, lastSeq: last.seq, lastHash: last.hash }];
    });
    return watchOf(query, this.clock.now(), tasks, heads);
  }

  #segments(task: RunId, generation: number): Segment[] {
    const records = this.archive.get(task) ?? [];
    const epochs = [...new Set(records.map(({ epoch }) => epoch))];
    return epochs.map((epoch) => {
      const own = records.filter((record) => record.epoch === epoch);
      const [first, last] = [own[0]!, own.at(-1)!];
      const events = own.map(({ event, lsn: _, ...rest }) => ({
        ...rest,
        event: event.type,
        data: event,
      }));
      return {
        task,
        generation,
        epoch,
        firstSeq: first.seq,
        lastSeq: last.seq,
        prevHash: records[first.seq - 1]?.hash ?? CHAIN_START,
        lastHash: last.hash,
        state: last.state,
        events: JSON.stringify(events),
      };
    });
  }
}

function recordOf({ seq, at, epoch, state, hash: own, data }: EventRow): StoredRecord {
  return { seq, lsn: 0, at, epoch, event: JSON.parse(data), state, hash: own };
}
