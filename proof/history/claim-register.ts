/**
 * The claim of one task as a register that pods write and read: who has it, under which epoch. What
 * pods were told of it must fit one order, whatever they asked at the same time.
 *
 *            claim e            settle e: ended
 *   open ──────────────▶ held ──────────────────▶ ended
 *     ▲                   │ │ take e → e'           │
 *     └───────────────────┘ └──▶ held, by another   └──▶ open: a redrive
 *        settle, take
 */
import type { Change, EndRow, StoreCall } from './evidence.ts';
import type { Call, Model } from './linearize.ts';
import { isEnded } from './rule.ts';

export interface Register {
  readonly kind: 'open' | 'held' | 'ended';
  readonly epoch: number;
  readonly owner: string | undefined;
}

export type RegisterOp =
  | { readonly op: 'claim'; readonly pod: string; readonly epoch: number }
  | {
      readonly op: 'settle';
      readonly pod: string;
      readonly epoch: number;
      readonly to: Register['kind'];
      /** Undefined where none came. */
      readonly answer: string | undefined;
    }
  | {
      readonly op: 'move';
      readonly was: Pick<Register, 'kind' | 'epoch'>;
      readonly to: Register;
    }
  | { readonly op: 'read'; readonly kind: Register['kind']; readonly epoch: number };

/** When all is over, and nobody asks any more. */
const END_MS = Number.MAX_SAFE_INTEGER;
/** The store's clock and that of the calls are read by different hands. */
const ROUNDED_MS = 50;

export const claimRegister: Model<Register, RegisterOp> = {
  start: { kind: 'open', epoch: 0, owner: undefined },
  keyOf: ({ kind, epoch, owner }) => `${kind} ${epoch} ${owner}`,
  next: (state, op) => {
    switch (op.op) {
      case 'claim':
        return state.kind === 'open' && op.epoch > state.epoch
          ? [{ kind: 'held', epoch: op.epoch, owner: op.pod }]
          : [];
      case 'settle':
        return settled(state, op);
      case 'move':
        return state.kind === op.was.kind && state.epoch === op.was.epoch ? [op.to] : [];
      case 'read':
        return state.kind === op.kind && state.epoch === op.epoch ? [state] : [];
    }
  },
};

function settled(
  state: Register,
  { pod, epoch, to, answer }: Extract<RegisterOp, { op: 'settle' }>,
): readonly Register[] {
  const stands = state.kind === 'held' && state.epoch === epoch && state.owner === pod;
  switch (answer) {
    case undefined:
    case 'stood': {
      const ended: Register = { kind: 'ended', epoch, owner: undefined };
      const open: Register = { kind: 'open', epoch: epoch + 1, owner: undefined };
      // A cancel that was noted meanwhile makes an end of a pause.
      return stands ? (to === 'ended' ? [ended] : [open, ended]) : [];
    }
    case 'done':
      return state.kind === 'ended' && state.epoch === epoch ? [state] : [];
    case 'lost':
      return stands ? [] : [state];
    case 'locked':
      return stands ? [state] : [];
    default:
      return [state];
  }
}

interface Known {
  /** What the task is at the end. */
  readonly row?: Pick<EndRow, 'status' | 'epoch'> | undefined;
  /** When a pod was declared dead, if it was: from then on all its claims are lost to it. */
  readonly diedAt?: ((pod: string) => number | undefined) | undefined;
}

/** What pods were told, as operations; and what somebody else did, or whose answer was lost. */
export function registerCalls(
  calls: readonly StoreCall[],
  changes: readonly Change[],
  { row, diedAt }: Known = {},
): Call<RegisterOp>[] {
  const told = mergedOf(calls).flatMap((call) => opsOf(call, diedAt?.(call.pod)));
  const all = [...told, ...untold(told, changes)];
  if (!row) return all;
  const op = { op: 'read', kind: kindOf(row.status), epoch: row.epoch } as const;
  return [...all, { op, fromMs: END_MS, toMs: END_MS }];
}

/** A settlement is noted when it is sent, and again when it is answered. */
function mergedOf(calls: readonly StoreCall[]): readonly StoreCall[] {
  const nameOf = ({ pod, fromMs, call }: StoreCall) => `${call} ${pod} ${fromMs}`;
  const answered = new Set(calls.filter(({ toMs }) => toMs !== undefined).map(nameOf));
  return calls.filter((call) => call.toMs !== undefined || !answered.has(nameOf(call)));
}

function opsOf(
  { call, pod, fromMs, toMs, tasks }: StoreCall,
  diedAt = Number.POSITIVE_INFINITY,
): Call<RegisterOp>[] {
  const span = { fromMs, toMs: toMs ?? END_MS - 1 };
  return tasks.map(({ epoch, to, answer, wasEpoch = 0 }) => {
    if (call === 'claim') return { ...span, op: { op: 'claim', pod, epoch } };
    if (call === 'settle') {
      // Whoever is dead has nothing, whoever the row says it belongs to.
      const said = answer === 'lost' && diedAt <= span.toMs + ROUNDED_MS ? 'dead' : answer;
      const op = { op: 'settle', pod, epoch, to: kindOf(to ?? ''), answer: said } as const;
      return { ...span, op, isOptional: toMs === undefined };
    }
    const kind = kindOf(to ?? '');
    const owner = kind === 'held' ? pod : undefined;
    const was = { kind: 'held', epoch: wasEpoch } as const;
    return { ...span, op: { op: 'move', was, to: { kind, epoch, owner } } };
  });
}

function kindOf(status: string): Register['kind'] {
  if (isEnded(status)) return 'ended';
  return status === 'claimed' ? 'held' : 'open';
}

/** Seen beside the store, and told to nobody: at some time, and for sure. */
function untold(told: readonly Call<RegisterOp>[], changes: readonly Change[]): Call<RegisterOp>[] {
  const known = new Set(told.map(({ op }) => deedOf(op)));
  return changes.flatMap(({ status, epoch, owner, wasEpoch, wasOwner, wasStatus }) => {
    const [kind, wasKind] = [kindOf(status), kindOf(wasStatus ?? '')];
    if (epoch === wasEpoch && owner === wasOwner && kind === wasKind) return [];
    if (kind === 'held' && known.has(`gets ${epoch}`)) return [];
    if (kind !== 'held' && wasKind === 'held' && known.has(`leaves ${wasEpoch}`)) return [];
    const op: RegisterOp =
      kind === 'held' && wasOwner === undefined
        ? { op: 'claim', pod: owner!, epoch }
        : { op: 'move', was: { kind: wasKind, epoch: wasEpoch }, to: { kind, epoch, owner } };
    return [{ op, fromMs: 0, toMs: END_MS - 1 }];
  });
}

/** Which epoch somebody got by it, or let go of; nothing where that is not for sure. */
function deedOf(op: RegisterOp): string | undefined {
  switch (op.op) {
    case 'claim':
      return `gets ${op.epoch}`;
    case 'move':
      return op.to.kind === 'held' ? `gets ${op.to.epoch}` : `leaves ${op.was.epoch}`;
    case 'settle':
      return op.answer === 'stood' ? `leaves ${op.epoch}` : undefined;
    case 'read':
      return undefined;
  }
}
