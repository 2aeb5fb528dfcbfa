/** On a terminal: the pods, the runs they hold, and what the ledger says, live. */
import type { MachineInfo } from '../../admin/index.ts';
import type { RunStatus, RunSummary } from '../../engine/index.ts';
import { type Cancel, isoTime, systemClock } from '../../ground/index.ts';
import type { Outcome } from '../../machine/index.ts';
import { painterFor, type Style } from '../paint.ts';
import type { SocketClient } from '../socket-client.ts';
import type { Board } from './board.ts';
import { place } from './lines.ts';
import { drawScreen, type Message, type RunLine, runRows, shortId, WIDE } from './screen.ts';
import { type DevEvent, styleOfEvent, tellEvent } from './story.ts';
import { Terminal } from './terminal.ts';
import type { Verdict } from './verifier.ts';
import { totalsLine, type View } from './view.ts';

const LOOK_EVERY_MS = 250;
const MESSAGES_KEPT = 50;

export interface TableOptions {
  readonly store: string;
  readonly board: Board;
  readonly verdict: () => Verdict;
  /** By the name of the pod. */
  readonly clients: ReadonlyMap<string, SocketClient>;
  /** Whether there are tasks to enqueue with a key. */
  readonly hasSamples: boolean;
  readonly onKey: (key: string) => void;
}

const STATUS_OF_OUTCOME: Record<Outcome, RunStatus> = {
  completed: 'completed',
  handedOff: 'handedOff',
  exhausted: 'failed',
  aborted: 'failed',
  timedOut: 'failed',
  cancelled: 'cancelled',
};
const FAILED: ReadonlySet<string> = new Set(['exhausted', 'aborted', 'timedOut']);

export class TableView implements View {
  readonly #options: TableOptions;
  readonly #terminal: Terminal;
  readonly #paint = painterFor(process.stdout, process.env);
  readonly #machines = new Map<string, MachineInfo>();
  readonly #messages: Message[] = [];
  #lines: RunLine[] = [];
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

  hear(event: DevEvent): void {
    if (event.kind === 'finished') this.#end(event);
    if (event.kind === 'settled') this.#letGo(event);
    // Its machines may be others than those of the process before.
    if (event.kind === 'ready') this.#machines.clear();
    const id = this.#terminal.size.columns >= WIDE ? (run: string) => run : shortId;
    const text = isQuiet(event) ? undefined : tellEvent(event, id);
    // Whoever quits knows that pods go.
    const isMeant = event.kind === 'died' && event.how === 'code 0';
    if (text !== undefined) this.#tell(text, isMeant ? 'gray' : styleOfEvent(event));
    this.#draw();
  }

  say(text: string): void {
    this.#tell(text, 'gray');
  }

  #tell(text: string, style: Style): void {
    const at = isoTime(systemClock.now()).slice(11, 19);
    this.#messages.push({ text: `${at}  ${text}`, style });
    if (this.#messages.length > MESSAGES_KEPT) this.#messages.shift();
    this.#draw();
  }

  close(verdict: string): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#cancelLook?.();
    this.#terminal.close();
    process.stdout.write(`${totalsLine(this.#options.board)}\n${verdict}\n`);
  }

  /** A pod forgets a task when the store has it; its line stays a while, as it ended. */
  #end(event: Extract<DevEvent, { kind: 'finished' }>): void {
    this.#lines = this.#lines.map((line) =>
      line.id === event.run
        ? {
            ...line,
            status: STATUS_OF_OUTCOME[event.outcome],
            outcome: event.outcome,
            state: event.state,
            isOrphan: false,
            finishedAt: systemClock.now(),
          }
        : line,
    );
  }

  /** Parked, or given back: nobody's for a while. */
  #letGo({ run, to }: Extract<DevEvent, { kind: 'settled' }>): void {
    if (to === 'pending') this.#lines = this.#lines.filter(({ id }) => id !== run);
    if (to !== 'waiting') return;
    this.#lines = this.#lines.map((line) =>
      line.id === run ? { ...line, status: 'waiting', pod: '' } : line,
    );
  }

  /** Looks again and again; a pod that is away says nothing, and its runs stand still. */
  async #look(): Promise<void> {
    await this.#ask().catch(() => undefined);
    if (!this.#isOpen) return;
    this.#draw();
    this.#cancelLook = systemClock.after(LOOK_EVERY_MS, () => void this.#look());
  }

  async #ask(): Promise<void> {
    const { clients, board } = this.#options;
    const limit = runRows(this.#terminal.size);
    const up = board.pods.filter(({ state }) => state === 'up');
    const found = await Promise.all(
      up
        .map(async ({ name }) => {
          const client = clients.get(name)!;
          if (this.#machines.size === 0) this.#learn(await client.machines());
          const runs = await client.runs({ limit, status: 'unfinished' });
          return runs.map((run) => this.#line(run, name));
        })
        .map((asked) => asked.catch(() => [])),
    );
    // What ended while the answers were on their way is not brought back to life.
    const ended = new Set(this.#lines.filter((line) => line.finishedAt).map(({ id }) => id));
    const fresh = found.flat().filter(({ id }) => !ended.has(id));
    const orphans = new Set(board.pods.flatMap((pod) => [...pod.orphans]));
    this.#lines = place(this.#lines, fresh, limit).map((line) =>
      line.finishedAt === undefined ? { ...line, isOrphan: orphans.has(line.id) } : line,
    );
  }

  #line(run: RunSummary, name: string): RunLine {
    const from = this.#options.board.takenFrom.get(run.id);
    const pod =
      from === undefined || from === name ? name : `${from} → ${name.replace('pod-', '')}`;
    return { ...run, pod, isOrphan: false };
  }

  #learn(machines: readonly MachineInfo[]): void {
    for (const machine of machines) {
      this.#machines.set(`${machine.name}@${machine.version}`, machine);
    }
  }

  #draw(): void {
    if (!this.#isOpen) return;
    const { store, hasSamples, board, verdict } = this.#options;
    const picture = {
      store,
      hasSamples,
      pods: board.pods,
      totals: board.totals,
      verdict: verdict(),
      runs: this.#lines,
      machines: this.#machines,
      messages: this.#messages,
      now: systemClock.now(),
      monotonicMs: systemClock.monotonicMs(),
    };
    this.#terminal.draw(drawScreen(picture, this.#terminal.size, this.#paint));
  }
}

/** The table shows how runs end, and the line below what the ledger says. */
function isQuiet(event: DevEvent): boolean {
  if (event.kind === 'verified') return event.lost.length + event.doubled.length === 0;
  return event.kind === 'finished' && !FAILED.has(event.outcome);
}
