/** What a pod says of itself with every heartbeat: for people, and for whoever leads. */
import type { Json } from '../ground/index.ts';
import type { Capacity } from './capacity.ts';
import type { Holdings } from './holdings.ts';
import type { PodPorts } from './options.ts';

const REASON_CHARS_MAX = 200;

export function reportOf(
  { engine, version, journal, news }: Pick<PodPorts, 'engine' | 'version' | 'journal' | 'news'>,
  { capacity, holdings }: { readonly capacity: Capacity; readonly holdings: Holdings },
): { readonly [key: string]: Json } {
  const { busy, slots, queued } = engine.load;
  const { loop, memory } = capacity.pressure;
  return {
    version,
    slots,
    busy,
    queued,
    held: holdings.size,
    capacity: capacity.count,
    unflushed: holdings.unflushed,
    loop: rounded(loop),
    memory: rounded(memory),
    ...(journal.stalledBy ? { stalled: journal.stalledBy.message.slice(0, REASON_CHARS_MAX) } : {}),
    ...news?.(),
  };
}

function rounded(share: number): number {
  return Math.round(share * 100) / 100;
}
