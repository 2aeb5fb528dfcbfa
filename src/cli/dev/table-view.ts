/** On a terminal: a live table. A run keeps its line until it has ended and the line is needed. */
import type { MachineInfo } from '../../admin/index.ts';
import type { RunSummary } from '../../engine/index.ts';
import { type Cancel, isoTime, systemClock } from '../../ground/index.ts';
import { painterFor } from '../paint.ts';
import type { SocketClient } from '../socket-client.ts';
import { drawScreen, runRows, shortId, type Totals, workerText } from './screen.ts';
import { tellEvent } from './story.ts';
import type { SupervisorEvent } from './supervisor.ts';
import { Terminal } from './terminal.ts';
import type { View } from './view.ts';

const LOOK_EVERY_MS = 250;
const MESSAGES_KEPT = 50;
const WIDE = 100;

export interface TableOptions {
  readonly dataDir: string;
  readonly client: SocketClient;
  /** Whether there are runs to start with a key. */
  readonly hasSamples: boolean;
  readonly onKey: (key: string) => void;
}

export class TableView implements View {
  readonly #options: TableOptions;
  readonly #terminal: Terminal;
  readonly #paint = painterFor(process.stdout);
  readonly #machines = new Map<string, MachineInfo>();
  readonly #messages: string[] = [];
  #lines: RunSummary[] = [];
  #totals: Totals = {
    started: 0,
    completed: 0,
    handedOff: 0,
    failed: 0,
    cancelled: 0,
    resumed: 0,
  };
  #worker = 'worker starting …';
  #isUp = false;
  #upSince = 0;
  #isOpen = false;
  #cancelLook: Cancel | undefined;

  constructor(options: TableOptions) {
    this.#options = options;
    this.#terminal = new Terminal({ key: options.onKey, resize: () => this.#draw() });
  }

  open(): void {
    this.#isOpen = true;
    this.#terminal.open();
    this.#look();
  }

  hear(event: SupervisorEvent): void {
    if (event.kind === 'ready') {
      this.#isUp = true;
      this.#upSince = systemClock.now();
    } else if (event.kind === 'died') {
      this.#isUp = false;
      this.#worker = `worker ${event.pid} is gone`;
    } else if (event.kind === 'started') {
      this.#worker = `worker ${event.pid} starting …`;
    }
    if (event.kind === 'begun') this.#add({ started: 1 });
    if (event.kind === 'resumed') this.#add({ resumed: 1 });
    if (event.kind === 'finished') this.#count(event.outcome);
    // The table shows how runs end; only what failed is worth a line besides.
    const isQuiet = event.kind === 'finished' && !FAILED.has(event.outcome);
    const id = this.#terminal.size.columns >= WIDE ? (run: string) => run : shortId;
    const text = isQuiet ? undefined : tellEvent(event, id);
    if (text !== undefined) this.say(text);
    this.#draw();
  }

  say(text: string): void {
    this.#messages.push(`${isoTime(systemClock.now()).slice(11, 19)}  ${text}`);
    if (this.#messages.length > MESSAGES_KEPT) this.#messages.shift();
    this.#draw();
  }

  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#cancelLook?.();
    this.#terminal.close();
    const { started, completed, handedOff, failed, resumed } = this.#totals;
    process.stdout.write(
      `started ${started}, completed ${completed}, handed off ${handedOff}, ` +
        `failed ${failed}, resumed ${resumed}\n`,
    );
  }

  #count(outcome: string): void {
    if (outcome === 'completed') this.#add({ completed: 1 });
    else if (outcome === 'handedOff') this.#add({ handedOff: 1 });
    else if (outcome === 'cancelled') this.#add({ cancelled: 1 });
    else this.#add({ failed: 1 });
  }

  #add(more: Partial<Totals>): void {
    const sum = { ...this.#totals };
    for (const name of Object.keys(more) as (keyof Totals)[]) sum[name] += more[name] ?? 0;
    this.#totals = sum;
  }

  /** Looks again and again; while the worker is away the table stands still. */
  async #look(): Promise<void> {
    if (this.#isUp) await this.#ask().catch(() => undefined);
    if (!this.#isOpen) return;
    this.#draw();
    this.#cancelLook = systemClock.after(LOOK_EVERY_MS, () => void this.#look());
  }

  async #ask(): Promise<void> {
    const { client } = this.#options;
    if (this.#machines.size === 0) {
      for (const machine of await client.machines()) {
        this.#machines.set(`${machine.name}@${machine.version}`, machine);
      }
    }
    const limit = runRows(this.#terminal.size);
    const [status, newest, unfinished] = await Promise.all([
      client.status(),
      client.runs({ limit: limit * 2 }),
      client.runs({ limit, status: 'unfinished' }),
    ]);
    this.#lines = place(this.#lines, [...unfinished, ...newest], limit);
    this.#worker = workerText({
      ...(status as unknown as Parameters<typeof workerText>[0]),
      upMs: systemClock.now() - this.#upSince,
    });
  }

  #draw(): void {
    if (!this.#isOpen) return;
    const picture = {
      dataDir: this.#options.dataDir,
      hasSamples: this.#options.hasSamples,
      worker: this.#worker,
      isUp: this.#isUp,
      runs: this.#lines,
      machines: this.#machines,
      totals: this.#totals,
      messages: this.#messages,
      now: systemClock.now(),
    };
    this.#terminal.draw(drawScreen(picture, this.#terminal.size, this.#paint));
  }
}

const FAILED: ReadonlySet<string> = new Set(['exhausted', 'aborted', 'timedOut']);

/** Every run stays where it is; a new one takes the line of whichever ended first. */
export function place(
  lines: readonly RunSummary[],
  found: readonly RunSummary[],
  countMax: number,
): RunSummary[] {
  const latest = new Map(found.map((run) => [run.id, run]));
  const placed = lines.slice(0, countMax).map((run) => latest.get(run.id) ?? run);
  const known = new Set(placed.map((run) => run.id));
  // One that ended and gave its line away does not come back.
  const newest: string =
    placed
      .map((run) => run.id)
      .sort()
      .at(-1) ?? '';
  const fresh = [...latest.values()]
    .filter((run) => !known.has(run.id) && (run.finishedAt === undefined || run.id > newest))
    .sort(byId);
  for (const run of fresh) {
    if (placed.length < countMax) {
      placed.push(run);
      continue;
    }
    const free = firstEnded(placed);
    if (free === undefined) break;
    placed[free] = run;
  }
  return placed;
}

function byId(a: RunSummary, b: RunSummary): number {
  return a.id < b.id ? -1 : 1;
}

function firstEnded(lines: readonly RunSummary[]): number | undefined {
  let first: number | undefined;
  for (const [index, { finishedAt }] of lines.entries()) {
    if (finishedAt === undefined) continue;
    if (first === undefined || finishedAt < (lines[first]?.finishedAt ?? 0)) first = index;
  }
  return first;
}
