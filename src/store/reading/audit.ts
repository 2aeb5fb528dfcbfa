/** Pages of what people changed, newest first. */
import { hash } from '../../ground/index.ts';
import type { AuditPage, AuditQuery, AuditRow } from '../reader.ts';
import { decodeCursor, encodeCursor, type Position } from './cursor.ts';
import { isStorable } from './words.ts';

export interface AuditFound extends Position {
  readonly row: AuditRow;
}

export interface AuditReach {
  readonly task: string | undefined;
  readonly who: string | undefined;
  readonly what: string | undefined;
  readonly after: Position | undefined;
  readonly rowsMax: number;
  readonly foundMax: number;
}

export interface AuditSlice {
  readonly found: readonly AuditFound[];
  /** The last row that was looked at; undefined where nothing older is left. */
  readonly end: Position | undefined;
}

export interface AuditSource {
  auditSlice(reach: AuditReach): Promise<AuditSlice>;
  isAt(text: string): boolean;
}

const PAGE_COUNT_MAX = 1_000;
const SLICE_ROWS = 5_000;
/** So far back one page looks; its cursor goes on from there. */
const SLICES_MAX = 20;

export async function auditPage(source: AuditSource, query: AuditQuery): Promise<AuditPage> {
  const { task, who, what, cursor } = query;
  const list = hash(JSON.stringify(['audit', task ?? null, who ?? null, what ?? null])).slice(
    0,
    16,
  );
  const isAt = (at: string) => source.isAt(at);
  let place: Position | undefined =
    cursor === undefined ? undefined : decodeCursor(cursor, list, isAt);
  if ([task, who, what].some((word) => word !== undefined && !isStorable(word))) {
    return { rows: [], cursor: undefined };
  }
  const count = Math.max(1, Math.min(query.countMax, PAGE_COUNT_MAX));
  const found: AuditFound[] = [];
  for (let slices = 0; slices < SLICES_MAX; slices += 1) {
    const foundMax = count + 1 - found.length;
    const reach = { task, who, what, after: place, rowsMax: SLICE_ROWS, foundMax };
    const slice = await source.auditSlice(reach);
    found.push(...slice.found);
    place = found.length > count ? found[count - 1] : slice.end;
    if (place === undefined || found.length >= count) break;
  }
  return {
    rows: found.slice(0, count).map(({ row }) => row),
    cursor: place && encodeCursor(list, { at: place.at, id: place.id, nowMs: 0 }),
  };
}
