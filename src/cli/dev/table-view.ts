/** On a terminal: the pods, the runs they hold, and what the ledger says, live. */
import type { MachineInfo } from '../../admin/index.ts';
import { type Cancel, isoTime, type RunId, systemClock } from '../../ground/index.ts';
import { painterFor, type Style } from '../paint.ts';
import type { SocketClient } from '../socket-client.ts';
import type { Board } from './board.ts';
import { type Line, type LineRow, RunLines } from './lines.ts';
import { drawScreen, type RunLine, runRows, shortId } from './screen.ts';
import { type DevEvent, styleOfEvent, tellEvent } from './story.ts';
import { Terminal } from './terminal.ts';
import type { Verdict } from './verifier.ts';
import { totalsLine, type View } from './view.ts';

const LOOK_EVERY_MS = 250;
const MESSAGES_KEPT = 50;
/** Narrower, what happened needs the room more than a whole id, which is in the table. */
const WIDE_MESSAGE = 120;

export interface TableOptions {
  /** The address of the admin UI, or why there is none. */
  readonly pages: string;
  readonly store: string;
  readonly board: Board;
  readonly verdict: () => Verdict;
  /** By the name of the pod. */
  readonly clients: ReadonlyMap<string, Pick<SocketClient, 'machines' | 'runs'>>;
  /** Rows of the store. */
  readonly find: (runs: readonly RunId[]) => Promise<readonly LineRow[]>;
  /** Whether there are tasks to enqueue with a key. */
  readonly hasSamples: boolean;
  readonly onKey: (key: string) => void;
}

/** An id takes the room that the terminal has when it is drawn, which may have changed since. */
interface Said {
  readonly text: (id: (run: string) => string) => string;
  readonly style: Style;
}

const FAILED: ReadonlySet<string> = new Set(['exhausted', 'aborted', 'timedOut']);

export class TableView implements View {
  readonly #options: TableOptions;
  readonly #terminal: Terminal;
  readonly #paint = painterFor(process.stdout, process.env);
  readonly #machines = new Map<string, MachineInfo>();
  readonly #messages: Said[] = [];
  readonly #lines = new RunLines();
  #mustLearn = true;
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
    if ('by' in event && event.kind !== 'takenOver') {
      this.#lines.hear(event.by, event, systemClock.now(), this.#rows);
    }
    // Its machines may be others than those of the process before.
    if (event.kind === 'ready') this.#mustLearn = true;
    // A pod that drains ends with code 0, as the person who quits knows.
    const isMeant = event.kind === 'died' && event.how === 'code 0';
    if (!isQuiet(event) && tellEvent(event, shortId) !== undefined) {
      const text: Said['text'] = (id) => tellEvent(event, id) ?? '';
      this.#tell(text, isMeant ? 'gray' : styleOfEvent(event));
    }
    this.#draw();
  }

  say(text: string): void {
    this.#tell(() => text, 'gray');
  }

  get #rows(): number {
    return runRows(this.#terminal.size);
  }

  #tell(text: Said['text'], style: Style): void {
    const at = isoTime(systemClock.now()).slice(11, 19);
    this.#messages.push({ text: (id) => `${at}  ${text(id)}`, style });
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

  /** Looks again and again; a pod that is away lists nothing, and its runs stand still. */
  async #look(): Promise<void> {
    await this.#ask().catch(() => undefined);
    if (!this.#isOpen) return;
    this.#draw();
    this.#cancelLook = systemClock.after(LOOK_EVERY_MS, () => void this.#look());
  }

  async #ask(): Promise<void> {
    const { board, find } = this.#options;
    const up = board.pods.filter(({ state }) => state === 'up');
    const listed = await Promise.all(
      up.map(({ name }) => this.#askPod(name).catch((): RunId[] => [])),
    );
    const asked = this.#lines.unlisted(new Set(listed.flat()));
    if (asked.length === 0) return;
    const asOf = this.#lines.heard;
    this.#lines.decide(asked, await find(asked), asOf);
  }

  /** Returns the runs that the pod lists. */
  async #askPod(name: string): Promise<RunId[]> {
    const { clients, board } = this.#options;
    const client = clients.get(name)!;
    if (this.#mustLearn) this.#learn(await client.machines());
    const asOf = this.#lines.heard;
    const countMax = this.#rows;
    const runs = await client.runs({ limit: countMax, status: 'unfinished' });
    this.#lines.refresh(name, runs, { asOf, holds: board.pod(name).holds, countMax });
    return runs.map(({ id }) => id);
  }

  #shown({ pod: by, hold, ...run }: Line, orphans: ReadonlySet<string>): RunLine {
    const from = this.#options.board.takenFrom.get(run.id);
    const isMoved = from !== undefined && from !== by;
    const pod = isMoved ? `${from} → ${by.replace('pod-', '')}` : by;
    if (run.finishedAt !== undefined) return { ...run, pod };
    if (orphans.has(run.id)) return { ...run, pod, mark: 'orphaned' };
    if (hold === 'held') return { ...run, pod };
    return { ...run, pod: '', mark: hold === 'released' ? hold : undefined };
  }

  #learn(machines: readonly MachineInfo[]): void {
    this.#mustLearn = false;
    for (const machine of machines) {
      this.#machines.set(`${machine.name}@${machine.version}`, machine);
    }
  }

  #draw(): void {
    if (!this.#isOpen) return;
    const { pages, store, hasSamples, board, verdict } = this.#options;
    const { size } = this.#terminal;
    const id = size.columns >= WIDE_MESSAGE ? (run: string) => run : shortId;
    const orphans = new Set(board.pods.flatMap((pod) => [...pod.orphans]));
    this.#lines.fit(this.#rows);
    const picture = {
      pages,
      store,
      hasSamples,
      pods: board.pods,
      totals: board.totals,
      verdict: verdict(),
      runs: this.#lines.all.map((line) => this.#shown(line, orphans)),
      machines: this.#machines,
      messages: this.#messages.map(({ text, style }) => ({ text: text(id), style })),
      now: systemClock.now(),
      monotonicMs: systemClock.monotonicMs(),
    };
    this.#terminal.draw(drawScreen(picture, size, this.#paint));
  }
}

/** The table shows how runs end, and the line below what the ledger says. */
function isQuiet(event: DevEvent): boolean {
  if (event.kind === 'verified') return event.lost.length + event.doubled.length === 0;
  return event.kind === 'finished' && !FAILED.has(event.outcome);
}
