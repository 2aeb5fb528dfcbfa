/**
 * What lies between a process and the store. A call may never arrive, be refused, be carried out and
 * lose its answer, or be carried out after its caller has given up; both ways take time.
 *
 *   caller ──→ on its way ──→ carried out ──→ on its way back ──→ caller
 *     └───────────── deadline: "nobody knows whether it took effect" ──┘
 */
import { StoreUnreachableError } from '../../src/store/errors.ts';
import { MemoryStore, type Way } from '../../src/store/memory/memory-store.ts';
import type { Beat, BeatAnswer, PodBirth } from '../../src/store/pods.ts';
import type { OnHint, Store } from '../../src/store/store.ts';
import type { ClaimRequest } from '../../src/store/tasks.ts';
import type { Auditor, Told } from './auditor.ts';
import type { Process } from './process.ts';
import type { World } from './world.ts';

const BEAT_DEADLINE_MS = 500;
const DEADLINE_MS = 2_000;
const HINT_MS_MAX = 30;
const HINT_LOST = 0.1;

/** `inDoubt`: carried out, and the answer is lost. `late`: carried out when its caller has given up. */
export type CallFate = 'fine' | 'cut' | 'refused' | 'inDoubt' | 'late';

/** How things are between one process and the store. */
export class Link {
  isCut = false;
  /** Share of calls that are refused before they are carried out. */
  refused = 0;
  /** Share of calls that are carried out and whose answer is lost. */
  inDoubt = 0;
  /** Share of calls that are carried out only after their caller has given up. */
  late = 0;
  latencyMs = 2;
  /** Claims come back with no more than one task, however many were asked for. */
  isMeagre = false;
  /** Whatever registers is refused. */
  refusesPods = false;
  /** The answers to its heartbeats show it as the oldest of all pods. */
  isFirst = false;
}

/** When a call was sent, by the simulation's clock and by the monotonic clock of its process. */
export interface Sent {
  readonly ms: number;
  readonly ownMs: number;
}

export interface CallPorts {
  readonly world: World;
  readonly auditor: Auditor;
  readonly process: Process;
  readonly link: Link;
  /** The weather of the store itself. */
  readonly store: Link;
  /** An answer has reached the process. */
  readonly onAnswer?: ((told: Told, answer: unknown, sent: Sent) => void) | undefined;
}

/** A handle on the tables for one process, with everything between that can go wrong. */
export function storeFor(ports: CallPorts): Store {
  let given: readonly unknown[] = [];
  const way: Way = (verb, act) => new Call(ports, verb, given).make(act);
  const store = new MemoryStore(ports.world.tables, { way });
  const verbs = store as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>;
  for (const verb of Object.keys(verbs)) {
    const ask = verbs[verb]!;
    if (typeof ask !== 'function') continue;
    // The way is asked before the first await, so these are the arguments of its call.
    verbs[verb] = (...args) => {
      given = changed(ports, verb, args);
      return ask(...given);
    };
  }
  const { listen } = store;
  store.listen = (onHint) => listen((...said) => deliverHint(ports, said, onHint));
  return store;
}

/** What is asked for instead of this, where somebody is in a certain state. */
function changed({ world, process, link }: CallPorts, verb: string, args: unknown[]): unknown[] {
  if (verb === 'claim' && link.isMeagre) return [meagre(world, args[0])];
  // The first of the fleet sees all of it.
  if (verb === 'beat' && link.isFirst) return [{ ...(args[0] as Beat), times: undefined }];
  const { bornAs } = process;
  const [birth] = args as [PodBirth];
  if (verb !== 'register' || bornAs?.pod !== birth.pod) return args;
  // The journal of a copy is told from its original when that is opened: this one was open already.
  return [{ ...birth, journal: bornAs.journal, boot: bornAs.boot }];
}

function meagre(world: World, request: unknown): ClaimRequest {
  world.count('small claims');
  return { ...(request as ClaimRequest), countMax: 1 };
}

/** As if nobody were older than this pod: whoever comes first in the fleet leads it. */
function asFirst(answer: BeatAnswer, { pod: self }: Beat): BeatAnswer {
  if (answer.kind !== 'taken') return answer;
  const own = answer.fleet.filter(({ pod }) => pod === self);
  return { ...answer, fleet: [...own, ...answer.fleet.filter(({ pod }) => pod !== self)] };
}

function deliverHint(
  { world, process, link }: CallPorts,
  said: Parameters<OnHint>,
  onHint: OnHint,
): void {
  if (process.isDead || link.isCut || world.random.fraction() < HINT_LOST) return;
  const atMs = world.nowMs + world.within(0, HINT_MS_MAX);
  world.schedule.at(atMs, () => onHint(...said), process);
}

class Call {
  readonly #ports: CallPorts;
  readonly #told: Told;
  readonly #sentMs: number;
  readonly #sentOwnMs: number;
  readonly #deadlineMs: number;
  /** Of the server it was sent to. */
  readonly #timeline: string;
  #isOver = false;

  constructor(ports: CallPorts, verb: keyof Store, given: readonly unknown[]) {
    this.#ports = ports;
    this.#told = { process: ports.process, verb, given };
    this.#sentMs = ports.world.nowMs;
    this.#timeline = ports.world.tables.timeline;
    this.#sentOwnMs = ports.process.clock.monotonicMs();
    this.#deadlineMs = verb === 'beat' ? BEAT_DEADLINE_MS : DEADLINE_MS;
  }

  make<Answer>(act: () => Answer): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const { world, process, auditor } = this.#ports;
      const given = auditor.sent(this.#told);
      // Whoever dies at this very point sends nothing any more.
      if (process.isDead) return;
      const end = (settle: () => void) => {
        if (this.#isOver) return;
        this.#isOver = true;
        cancel();
        settle();
      };
      const giveUp = (why: string) => () =>
        end(() => reject(new StoreUnreachableError(`${this.#told.verb}: ${why}`)));
      const lateMs = this.#sentMs + this.#deadlineMs;
      const cancel = world.schedule.at(lateMs, giveUp('no answer in time'), process);
      const fate = given ?? this.#fate();
      if (fate !== 'fine') world.count(`calls ${fate}`);
      auditor.fared(this.#told, fate, this.#ports.store.isCut);
      if (fate === 'cut') return;
      if (fate === 'refused') {
        world.schedule.at(world.nowMs + this.#legMs(), giveUp('refused'), process);
        return;
      }
      const delayMs = fate === 'late' ? this.#deadlineMs + world.within(0, 3_000) : 0;
      world.schedule.at(world.nowMs + delayMs + this.#legMs(), () => {
        // Whatever a server had not come to by then ends with it.
        if (world.tables.timeline !== this.#timeline) return;
        const answered = this.#carryOut(act);
        if (fate !== 'fine') return;
        world.schedule.at(
          world.nowMs + this.#legMs(),
          () => {
            // A line that was cut meanwhile takes the answer with it.
            if (!this.#isOver && !this.#isCut())
              end(() => this.#deliver(answered, resolve, reject));
          },
          process,
        );
      });
    });
  }

  #isCut(): boolean {
    return this.#ports.link.isCut || this.#ports.store.isCut;
  }

  #fate(): CallFate {
    const { world, link, store } = this.#ports;
    if (this.#isCut()) return 'cut';
    if (link.refusesPods && this.#told.verb === 'register') return 'refused';
    const chance = world.random.fraction();
    let below = link.refused + store.refused;
    if (chance < below) return 'refused';
    below += link.inDoubt + store.inDoubt;
    if (chance < below) return 'inDoubt';
    return chance < below + link.late + store.late ? 'late' : 'fine';
  }

  #legMs(): number {
    const { world, link, store } = this.#ports;
    return world.random.fraction() * (link.latencyMs + store.latencyMs);
  }

  #carryOut<Answer>(act: () => Answer): Answered<Answer> {
    const { world, auditor } = this.#ports;
    const change = world.mutant?.changeCall;
    const { verb, given } = this.#told;
    const carry = change ? () => change(world.tables, verb, given, act) : act;
    return auditor.watch(this.#told, () => {
      try {
        return { answer: carry() };
      } catch (error) {
        return { error };
      }
    });
  }

  #deliver<Answer>(
    answered: Answered<Answer>,
    resolve: (answer: Answer) => void,
    reject: (error: unknown) => void,
  ): void {
    if ('error' in answered) return reject(answered.error);
    const sent = { ms: this.#sentMs, ownMs: this.#sentOwnMs };
    this.#ports.onAnswer?.(this.#told, answered.answer, sent);
    this.#ports.auditor.delivered(this.#told, answered.answer);
    this.#ports.auditor.heard(this.#told);
    const { verb, given } = this.#told;
    if (verb !== 'beat' || !this.#ports.link.isFirst) return resolve(answered.answer);
    resolve(asFirst(answered.answer as BeatAnswer, given[0] as Beat) as Answer);
  }
}

type Answered<Answer> = { readonly answer: Answer } | { readonly error: unknown };
