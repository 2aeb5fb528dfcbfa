/**
 * Compares what the store says this pod holds with what it does hold. A claim whose answer was lost is
 * found here, and goes the way of every claim answer; one that the store no longer has is let go. It
 * never releases on first sight: the answer may just be arriving.
 */
import type { ClaimedTask, PodId, Store } from '../store/index.ts';
import type { HeldRun } from './held-run.ts';
import { type Holdings, nameOf } from './holdings.ts';

const PAGE_COUNT = 500;

export interface ReconcilerPorts {
  readonly store: Pick<Store, 'held'>;
  readonly pod: PodId;
  readonly holdings: Holdings;
  readonly payloadBytesMax: number;
  readonly accept: (tasks: readonly ClaimedTask[]) => Promise<void>;
  readonly onLost: (held: HeldRun) => void;
}

/** To be called while no claim is on its way. */
export function reconcile(ports: ReconcilerPorts): Promise<void> {
  return ports.holdings.observing((gone) => compare(ports, gone));
}

async function compare(ports: ReconcilerPorts, gone: ReadonlySet<string>): Promise<void> {
  const { store, pod, holdings, accept, onLost, payloadBytesMax } = ports;
  const before = [...holdings.all()].filter((held) => !held.isOver);
  const listed = new Set<string>();
  let after = '';
  for (;;) {
    const page = await store.held(pod, after, PAGE_COUNT, payloadBytesMax);
    for (const claim of page) listed.add(nameOf(claim));
    // What was settled while the answer was on its way is over, whatever the answer says of it.
    await accept(page.filter((claim) => !gone.has(nameOf(claim))));
    if (page.length < PAGE_COUNT) break;
    after = page.at(-1)!.task;
  }
  for (const held of before) {
    if (!held.isOver && !listed.has(nameOf(held.claim))) onLost(held);
  }
}
