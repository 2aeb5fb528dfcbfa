/** Real pods, and whoever takes their spans, each in a process of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type RunId, runIdMint, systemClock, systemRandom } from '../../src/ground/index.ts';
import { openStore, type Store, type TaskRow } from '../../src/store/index.ts';
import { removeTree } from '../support/remove-tree.ts';

const path = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const BIN = path('../../dist/bin.js');
const MACHINES = path('machines');
const READY_MS_MAX = 90_000;

export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly scope: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Readonly<Record<string, string | number | boolean>>;
  readonly resource: Readonly<Record<string, string | number | boolean>>;
  readonly isError: boolean;
  readonly message?: string;
  readonly links: readonly {
    readonly traceId: string;
    readonly spanId: string;
    readonly why?: string;
  }[];
  readonly events: readonly {
    readonly name: string;
    readonly attributes: Record<string, unknown>;
  }[];
}

export interface Pod {
  readonly child: ChildProcess;
  readonly id: string;
  readonly ended: Promise<unknown>;
}

type Env = Readonly<Record<string, string>>;

export class Stage {
  readonly directory = mkdtempSync(join(tmpdir(), 'fqt-'));
  readonly storeUrl = `sqlite:${join(this.directory, 'fleet.db')}`;
  readonly #children = new Set<ChildProcess>();
  readonly #mint = runIdMint(systemClock, systemRandom);
  #port = 0;
  store!: Store;
  env: Env = {};

  static async open(env: Env = {}): Promise<Stage> {
    const stage = new Stage();
    const receiver = stage.#spawn([path('receiver.mjs')], {}, ['pipe', 'pipe', 'inherit']);
    const [line] = (await once(receiver.stdout!, 'data')) as [Buffer];
    stage.#port = Number(line.toString());
    stage.env = {
      FLEETQ_STORE_URL: stage.storeUrl,
      FLEETQ_MACHINES: MACHINES,
      FLEETQ_HEARTBEAT: '200ms',
      FLEETQ_SILENCE: '1s',
      FLEETQ_ARCHIVE: '100ms',
      FLEETQ_LOG_LEVEL: 'silent',
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${stage.#port}`,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      ...env,
    };
    const options = { clock: systemClock, random: systemRandom, migrates: true };
    stage.store = await openStore(stage.storeUrl, options);
    return stage;
  }

  /** `fleetq worker` on a directory of that name, once it is up. */
  async worker(name: string, env: Env = {}): Promise<Pod> {
    const own = { ...env, FLEETQ_DATA_DIR: join(this.directory, name), FLEETQ_POD_NAME: name };
    const child = this.#spawn([BIN, 'worker', '--json'], own, ['ignore', 'pipe', 'inherit']);
    const ended = once(child, 'close');
    let said = '';
    const ready = await new Promise<{ pod: string }>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`${name} is not up: ${said}`)), READY_MS_MAX);
      child.stdout!.on('data', (text: Buffer) => {
        said += text;
        const line = said.split('\n').find((one) => one.includes('"kind":"ready"'));
        if (!line) return;
        clearTimeout(timer);
        resolve(JSON.parse(line));
      });
      ended.then(() => reject(new Error(`${name} ended: ${said}`)));
    });
    return { child, id: ready.pod, ended };
  }

  /** `fleetq …` to its end; answers what it said on stdout. */
  async run(args: readonly string[], env: Env = {}): Promise<string> {
    const child = this.#spawn([BIN, ...args], env, ['ignore', 'pipe', 'inherit']);
    let said = '';
    child.stdout!.on('data', (text: Buffer) => {
      said += text;
    });
    const [code] = await once(child, 'close');
    if (code !== 0) throw new Error(`fleetq ${args.join(' ')} ended with ${code}: ${said}`);
    return said.trim();
  }

  /** Gives a task to the fleet, by no process of its own. */
  async enqueue(machine: string, input: object, traceParent?: string): Promise<RunId> {
    const id = this.#mint();
    const payload = JSON.stringify(input);
    const [none, keyMs] = [undefined, 60_000];
    const of = {
      id,
      machine,
      version: 1,
      queue: 'default',
      priority: 0,
      payload,
      keyMs,
      traceParent,
    };
    const task = { ...of, due: none, key: none, retriesMax: none, deadlineMs: 60_000 };
    await this.store.enqueue([{ ...task, traceParent }]);
    return id;
  }

  ended(id: RunId): Promise<TaskRow> {
    return this.until(`${id} has ended`, async () => {
      const [row] = await this.store.find([id]);
      return row?.finishedAt === undefined ? undefined : row;
    });
  }

  async spans(): Promise<ReceivedSpan[]> {
    return (await fetch(`http://127.0.0.1:${this.#port}/spans`)).json() as never;
  }

  async raw(): Promise<Buffer> {
    return Buffer.from(await (await fetch(`http://127.0.0.1:${this.#port}/raw`)).arrayBuffer());
  }

  /** Asks until `find` answers something. */
  async until<T>(what: string, find: () => Promise<T | undefined>, ms = 20_000): Promise<T> {
    const end = Date.now() + ms;
    for (;;) {
      const found = await find();
      if (found !== undefined) return found;
      if (Date.now() > end) throw new Error(`in vain: ${what}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  async close(): Promise<void> {
    await this.store.close();
    for (const child of this.#children) child.kill('SIGKILL');
    removeTree(this.directory);
  }

  #spawn(
    args: readonly string[],
    env: Env,
    stdio: ('pipe' | 'ignore' | 'inherit')[],
  ): ChildProcess {
    const clean = Object.entries(process.env).filter(([name]) => !/^(FLEETQ|OTEL)_/.test(name));
    const own = { ...Object.fromEntries(clean), ...this.env, ...env };
    const child = spawn(process.execPath, [...args], { env: own, stdio, cwd: this.directory });
    this.#children.add(child);
    child.once('close', () => this.#children.delete(child));
    return child;
  }
}
