/**
 * Serial keys: of one queue and one key, one task at a time is at work, in the order in which they are due.
 * Whoever has begun keeps its turn, be it asleep, put off by a failure, paused or without a pod, until it
 * ends. Who has begun is known from calls of handlers, and not from what the tables say of turns.
 *
 *   waits for its turn ──▶ has it ──▶ begins ──▶ … ──▶ ends
 *        ▲                   │ put off or paused, not begun
 *        └───────────────────┘
 */
import type { Act } from '../../src/store/acts.ts';
import { isEnded, type TaskRecord } from '../../src/store/memory/tables.ts';
import type { Store } from '../../src/store/store.ts';
import type { EnqueueAnswer } from '../../src/store/tasks.ts';
import type { World } from './world.ts';

/** After these every key that was free has its next one, where one is due. */
const GIVES_TURNS: readonly (keyof Store)[] = [
  ...(['enqueue', 'claim', 'settle', 'take', 'failHopeless', 'act'] as const),
];
/** Acts by which a task is due at another time than before. */
const SETS_TIME: readonly Act['deed']['what'][] = ['reschedule', 'redrive'];

interface Member {
  readonly task: TaskRecord;
  generation: number;
  /** It waited for its turn when it was looked at last, due then. */
  waitedFor: number | undefined;
  /** A phase of this generation has begun. */
  hasBegun: boolean;
  epoch: number;
}

type Line = Member[];

export class TurnJudge {
  readonly #world: World;
  readonly #lines = new Map<string, Line>();
  readonly #members = new Map<string, Member>();

  constructor(world: World) {
    this.#world = world;
  }

  enqueued(answers: readonly EnqueueAnswer[]): void {
    for (const { id, isNew } of answers) {
      const task = this.#world.tables.tasks.get(id);
      if (!isNew || task?.serialKey === undefined) continue;
      const { generation, claimEpoch: epoch } = task;
      // Not looked at yet: whatever it is by now, it began as one that waits.
      const waitedFor = Math.max(task.runAt, this.#world.tables.now());
      const member = { task, generation, waitedFor, hasBegun: false, epoch };
      const name = `${task.queue} ${task.serialKey}`;
      const line = this.#lines.get(name) ?? [];
      this.#lines.set(name, line);
      line.push(member);
      this.#members.set(id, member);
    }
  }

  /** A phase begins under this epoch. One whose owner has lost it is another's affair (I9). */
  begins(run: string, epoch: number, what: string): void {
    const member = this.#members.get(run);
    if (member?.task.status !== 'claimed' || member.task.claimEpoch !== epoch) return;
    const { queue, serialKey } = member.task;
    this.#world.count('judged turns');
    if (member.hasBegun && member.epoch !== epoch) this.#world.count('turns kept');
    member.hasBegun = true;
    member.epoch = epoch;
    const line = this.#lines.get(`${queue} ${serialKey}`)!;
    const other = line.find((one) => one !== member && isAtWork(one));
    if (other) this.#fault(member, `began ${what}, and ${other.task.taskId} is not over`);
  }

  /** After a call: judges the turns it gave, and answers whose. */
  look(verb: keyof Store, given: readonly unknown[]): readonly string[] {
    if (this.#members.size === 0 || !GIVES_TURNS.includes(verb)) return [];
    const act = verb === 'act' ? (given[0] as Act) : undefined;
    const moved = act && SETS_TIME.includes(act.deed.what) ? act.task : undefined;
    const turned: string[] = [];
    for (const line of this.#lines.values()) {
      for (const member of line) this.#renew(member, moved);
      for (const member of line) {
        if (member.waitedFor === undefined || member.task.waitFor === 'turn') continue;
        if (!isEnded(member.task)) this.#given(member, line, turned);
      }
      this.#judgeFree(line, verb);
      for (const member of line) member.waitedFor = dueOf(member.task);
    }
    return turned;
  }

  #renew(member: Member, moved: string | undefined): void {
    const { task } = member;
    if (task.generation !== member.generation) {
      member.generation = task.generation;
      member.hasBegun = false;
    }
    // One that has begun keeps its turn, whenever it is to go on; so does one whose owner was lost, and may have.
    const mayHaveBegun = member.hasBegun || task.interrupted !== undefined;
    if (task.taskId === moved && !mayHaveBegun) {
      member.waitedFor = task.waitFor === 'turn' ? task.runAt : this.#world.tables.now();
    }
    if (task.waitFor === 'turn' && member.hasBegun) this.#fault(member, 'has begun, and waits');
  }

  #given(member: Member, line: Line, turned: string[]): void {
    const now = this.#world.tables.now();
    turned.push(member.task.taskId);
    this.#world.count('turns given');
    if (member.task.paused) this.#fault(member, 'has its turn, and is paused');
    if (member.waitedFor! > now) this.#fault(member, 'has its turn before it is due');
    const isFirst = (one: Member) =>
      one.waitedFor! < member.waitedFor! ||
      (one.waitedFor === member.waitedFor && one.task.taskId < member.task.taskId);
    for (const other of line) {
      if (other === member) continue;
      if (hasTurn(other)) this.#fault(member, `has the turn of ${other.task.taskId}`);
      const isReady = other.task.waitFor === 'turn' && !other.task.paused;
      if (isReady && other.waitedFor !== undefined && isFirst(other)) {
        this.#fault(member, `has its turn before ${other.task.taskId}, which was due first`);
      }
    }
  }

  #judgeFree(line: Line, verb: string): void {
    if (line.some(hasTurn)) return;
    const now = this.#world.tables.now();
    const next = line.find(
      ({ task }) => task.waitFor === 'turn' && !task.paused && task.runAt <= now,
    );
    if (next) this.#fault(next, `was not given its turn by ${verb}`);
  }

  #fault({ task: { taskId, serialKey } }: Member, how: string): void {
    this.#world.violate('turn', `${taskId} of ${serialKey} ${how}`);
  }
}

function dueOf({ waitFor, runAt }: TaskRecord): number | undefined {
  return waitFor === 'turn' ? runAt : undefined;
}

/** Begun and not over, or in somebody's hands. */
function isAtWork({ task, generation, hasBegun }: Member): boolean {
  return (
    task.status === 'claimed' || (hasBegun && task.generation === generation && !isEnded(task))
  );
}

function hasTurn(member: Member): boolean {
  const { task } = member;
  return isAtWork(member) || (!isEnded(task) && task.waitFor !== 'turn');
}
