/** Every API that is known of, as people are shown it. */
import type { Codec } from '../../ground/index.ts';
import type { StoreReader } from '../../store/index.ts';
import { type ThrottleView, throttleViewOf } from '../../throttle/index.ts';
import { parkedRuns } from './parked.ts';

export async function throttleViews(reader: StoreReader, codec: Codec): Promise<ThrottleView[]> {
  const [rows, pods] = await Promise.all([reader.throttles(), reader.pods()]);
  if (rows.length === 0) return [];
  const parked = await parkedRuns(reader, codec);
  return rows.map((row) => throttleViewOf(row, pods, parked.for(row.api)));
}
