/**
 * The public types of a machine. They are read mostly by the compiler and by people looking at an
 * error message, so a type that shows up in messages is named as advice (`WriteWorkAboveThis`), and
 * a value that is not JSON is told what to become.
 */
import type { StandardSchemaV1 as Schema } from '@standard-schema/spec';
import type { Backoff, Duration, Json, RunId } from '../ground/index.ts';
import type { ThrottleHandle, UseOptions } from './throttle-types.ts';

// ── Values ──────────────────────────────────────────────────────────────────────────────────────
export type AnySchema = Schema<unknown, unknown>;
/** `Promise`, not `PromiseLike`: error messages then compare the values and not their `then`. */
export type Awaitable<T> = T | Promise<T>;
type Flat<T> = { [K in keyof T]: T[K] } & {};
type With<T, K extends string, V> = Flat<T & { readonly [X in K]: V }>;

/** T itself where JSON gives it back unchanged; elsewhere a sentence that says what to do. */
export type JsonSafe<T, U = 'unknown is not JSON: parse it or give it a type'> = 0 extends 1 & T
  ? T
  : T extends Json | undefined
    ? T
    : T extends bigint
      ? 'a bigint is not JSON: use a string'
      : T extends Date
        ? 'a Date is not JSON: use an ISO string'
        : T extends ReadonlyMap<unknown, unknown> | ReadonlySet<unknown>
          ? 'a Map or Set is not JSON: use an array or an object'
          : T extends ArrayBufferView | ArrayBufferLike
            ? 'binary data is not JSON: store it, and pass on where it is'
            : T extends symbol | ((...args: never) => unknown)
              ? 'a function or symbol is not JSON: use plain data'
              : T extends PromiseLike<unknown>
                ? 'a promise is not JSON: await it'
                : T extends readonly unknown[]
                  ? {
                      [K in keyof T]: undefined extends T[K]
                        ? 'undefined in an array is not JSON: use null'
                        : JsonSafe<T[K], U>;
                    }
                  : T extends object
                    ? { [K in keyof T]: JsonSafe<T[K], U> }
                    : U;
/** What bigint, symbol, function and unknown lack; the mapped type alone would let them through. */
interface PlainData {
  readonly [Symbol.toStringTag]?: never;
  readonly bind?: never;
}
/** A bound for W and P. No `string | number | boolean` in it, or literals would not widen. */
export type Durable<T> = null | undefined | void | ({ [K in keyof T]: JsonSafe<T[K]> } & PlainData);

/** A schema has to take JSON in, since that is how its value travels; unknown (coercion) may pass. */
type TakesJson<D extends AnySchema> = [Schema.InferInput<D>] extends [
  JsonSafe<Schema.InferInput<D>, unknown>,
]
  ? unknown
  : Schema<JsonSafe<Schema.InferInput<D>, unknown>, unknown>;

// ── Outcomes of a phase ─────────────────────────────────────────────────────────────────────────
export interface Handoff<out O> {
  readonly kind: 'handoff';
  readonly output: O;
  readonly reason?: string | undefined;
}
export type HandoffOrProceed<P> = void | null | Handoff<P>;
export type NothingOrThrow = void | undefined;

// ── Contexts ────────────────────────────────────────────────────────────────────────────────────
type Say = (message: string, fields?: object) => void;
export interface Log {
  readonly debug: Say;
  readonly info: Say;
  readonly warn: Say;
  readonly error: Say;
}
/** A transaction of the shared store; given to `persist` by `persistIn: 'store'`. */
export interface StoreTx {
  query<Row = unknown>(sql: string, values?: readonly unknown[]): Promise<Row[]>;
}
export interface LineContext<I, S> {
  readonly input: I;
  /** What the earlier steps put out, by their names. */
  readonly state: S;
}
export interface StepContext<I, S> extends LineContext<I, S> {
  readonly runId: RunId;
  /** From 1; counts failures and interruptions of this step. */
  readonly attempt: number;
  /** The same over retries, crashes and take-overs of this phase; other for every other phase. */
  readonly idempotencyKey: string;
  /** Rises whenever another process takes the run over: give it to whatever can refuse an older one. */
  readonly fencingToken: number;
  /** Aborts on cancel, on timeout and near the end of a drain. */
  readonly signal: AbortSignal;
  readonly log: Log;
  // Properties, not methods: `({ use }) => use(…)` must not trip unbound-method lint rules.
  readonly use: <T>(api: string, call: () => Awaitable<T>, options?: UseOptions) => Promise<T>;
  /** The same throttle, for what `use` is too simple for. */
  readonly throttle: (api: string) => ThrottleHandle;
  readonly progress: (fraction: number, note?: string) => void;
}
export interface WorkedContext<I, S, W> extends StepContext<I, S> {
  readonly work: W;
}
export interface StoreContext<I, S, W> extends WorkedContext<I, S, W> {
  readonly tx: StoreTx;
}
export type PersistIn = 'journal' | 'store';
type PersistContext<I, S, W, X> = X extends 'store'
  ? StoreContext<I, S, W>
  : WorkedContext<I, S, W>;

// ── Policies ────────────────────────────────────────────────────────────────────────────────────
export type Phase = 'check' | 'work' | 'validate' | 'persist';
export interface RetryRule {
  /** How often the step may be tried in all; 1 means never again. */
  readonly attemptMax?: number | undefined;
  readonly backoff?: Backoff | undefined;
}
/** For the whole step, or for failures of one phase. */
export interface Retry extends RetryRule {
  readonly check?: RetryRule | undefined;
  readonly work?: RetryRule | undefined;
  readonly validate?: RetryRule | undefined;
  readonly persist?: RetryRule | undefined;
}
/** `sync`: the phase's record reaches the store before the next phase begins. */
export type Flush = { readonly [K in Phase]?: 'sync' | 'behind' | undefined };
export interface StepPolicy {
  readonly retry?: Retry | undefined;
  readonly flush?: Flush | undefined;
  readonly timeout?: { readonly [K in Phase]?: Duration | undefined } | undefined;
}
export interface Policy {
  readonly retry?: Retry | undefined;
  readonly flush?: Flush | undefined;
  readonly timeout?: { readonly [K in Phase | 'run']?: Duration | undefined } | undefined;
  /**
   * For so long its claimed runs go on while the store does not answer, although another pod may have
   * taken them over meanwhile: only for work that two may do at once.
   */
  readonly autonomous?: Duration | undefined;
}

// ── Steps: W = what work returns, P = what persist returns (never: none), Q = the output schema ─
export interface Step<I, S, W, P, X extends PersistIn, Q> {
  readonly output?: Q | undefined;
  readonly persistIn?: X | undefined;
  /** Looks at the real resource. `'none'` says in so many words that there is nothing to look at. */
  readonly check:
    | 'none'
    | ((context: StepContext<I, S>) => Awaitable<HandoffOrProceed<NoInfer<Stored<W, P, Q>>>>);
  readonly work: (context: StepContext<I, S>) => Awaitable<W>;
  /** Throws to reject the work. Returning true or false is a type error. */
  readonly validate?: ((context: WorkedContext<I, S, W>) => Awaitable<NothingOrThrow>) | undefined;
  readonly persist?: ((context: PersistContext<I, S, W, X>) => Awaitable<P>) | undefined;
}
export type Wanted<Q> = Q extends AnySchema ? Schema.InferInput<Q> : unknown;
type Stored<W, P, Q> = Q extends AnySchema ? Schema.InferInput<Q> : [P] extends [never] ? W : P;
export type Result<W, P, Q> = Q extends AnySchema
  ? Schema.InferOutput<Q>
  : [P] extends [never]
    ? W
    : P;
/** What TypeScript takes `work` for until it has read it: it infers from top to bottom. */
export type WriteWorkAboveThis = {};
export interface WorkIsNotTheOutput {
  readonly persist: unknown;
}
/** Without persist, what work returns has to fit the output schema. */
export type Completes<W, P, Q> = [P] extends [never]
  ? [W] extends [Stored<W, P, Q>]
    ? unknown
    : [WriteWorkAboveThis] extends [W]
      ? unknown
      : WorkIsNotTheOutput
  : unknown;

// ── Lines: S = state so far, O = last output, A = step name → state it starts with ──────────────
type NewName<K extends string, A> = K extends keyof A
  ? `'${K}' is already the name of an earlier step`
  : K;
export interface Line<I, S, O, A> {
  readonly '~types'?: { readonly output: O; readonly state: S; readonly at: A };
  step<
    const K extends string,
    W extends Durable<W> = WriteWorkAboveThis,
    P extends Durable<P> & Wanted<Q> = never,
    X extends PersistIn = 'journal',
    Q extends AnySchema | undefined = undefined,
  >(
    name: NewName<K, A>,
    step: Step<I, S, W, P, X, Q> & StepPolicy & Completes<NoInfer<W>, NoInfer<P>, NoInfer<Q>>,
  ): Line<I, With<S, K, Result<W, P, Q>>, Result<W, P, Q>, With<A, K, S>>;
  sleep<const K extends string>(
    name: NewName<K, A>,
    delay: Duration | ((context: LineContext<I, S>) => Duration | Date),
  ): Line<I, S, O, With<A, K, S>>;
}

// ── Upgrades ────────────────────────────────────────────────────────────────────────────────────
declare const resumed: unique symbol;
/** What `resumeAt` and `restart` answer; nothing else may be returned from an upgrade. */
export interface Resumed {
  readonly [resumed]: true;
}
/** A run that version `version` left unfinished. What it holds is what that version wrote: parse it. */
export interface OldRun<I, A> {
  readonly version: number;
  /** Where it stands, by the line of that version. */
  readonly at: Transition;
  readonly attempt: number;
  readonly input: unknown;
  /** What its finished steps have put out, by their names. */
  readonly state: Readonly<Record<string, unknown>>;
  /** Goes on with this step, as if the steps before it had put out `state`. */
  readonly resumeAt: <K extends keyof A & string>(
    step: K,
    as: { readonly input: I; readonly state: A[K] },
  ) => Resumed;
  /** Begins at the first step again. */
  readonly restart: (input: I) => Resumed;
}
export type Upgrades<I, A> = { readonly [from: number]: (old: OldRun<I, A>) => Resumed };

// ── Machines ────────────────────────────────────────────────────────────────────────────────────
/** One phase of the line, as data; `sleep` stands for a pause between steps. */
export interface Transition {
  readonly step: string;
  readonly phase: Phase | 'sleep';
}
/** Only what outsiders need: in, out, name. `Machine` alone is any machine. */
export interface Machine<in I = never, out O = unknown, out N extends string = string> {
  readonly name: N;
  readonly version: number;
  /** Names, order and schemas; never function source. */
  readonly fingerprint: string;
  readonly transitions: readonly Transition[];
  /** The state machine that decides every transition, as XState has it. */
  toXState(): object;
  toMermaid(): string;
  readonly '~types'?: { readonly input: (input: I) => void; readonly output: O };
}
export type InputOf<M> = M extends Machine<infer I, unknown, string> ? I : never;
export type OutputOf<M> = M extends Machine<never, infer O> ? O : never;

interface Head<N extends string, D extends AnySchema> extends Policy {
  readonly name: N;
  readonly version: number;
  readonly input: D & TakesJson<NoInfer<D>>;
}
export interface StepMachine<N extends string, D extends AnySchema, W, P, X extends PersistIn, Q>
  extends Head<N, D>,
    Step<Schema.InferOutput<D>, {}, W, P, X, Q> {
  readonly upgrade?: Upgrades<Schema.InferInput<D>, {}> | undefined;
  readonly steps?: undefined;
}
export interface LineMachine<N extends string, D extends AnySchema, S, O, A>
  extends Head<N, D>,
    Partial<Record<Phase, undefined>> {
  readonly steps: (
    line: Line<Schema.InferOutput<D>, {}, never, {}>,
  ) => Line<Schema.InferOutput<D>, S, O, A>;
  readonly upgrade?: Upgrades<Schema.InferInput<D>, NoInfer<A>> | undefined;
}
/** A union of two shapes, not two overloads: a mistake then gets its own message. */
export type Definition<
  N extends string,
  D extends AnySchema,
  W,
  P,
  X extends PersistIn,
  Q,
  S,
  O,
  A,
> =
  | (StepMachine<N, D, W, P, X, Q> & Completes<NoInfer<W>, NoInfer<P>, NoInfer<Q>>)
  | LineMachine<N, D, S, O, A>;
