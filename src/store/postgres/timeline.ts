/**
 * Which primary a server is: its timeline, which counts up when another server takes over. Not every role
 * may ask for it, and not every server can say it (Aurora by its defaults, CockroachDB). There the
 * timeline is that of no server: epochs go by their counter alone, and a failover is not noticed.
 */
import { FleetqError } from '../../ground/index.ts';
import { StoreBusyError, StoreUnreachableError } from '../errors.ts';
import { meaningOf } from './driver-errors.ts';
import { sql, timeline } from './sql.ts';

/** Below that of every server: a role that is granted the right later moves on to a real one. */
export const NO_TIMELINE = '00000000';

const askTimeline = sql`select case when not pg_is_in_recovery() then ${timeline} end as timeline`;

type Ask = (text: string) => Promise<readonly Readonly<Record<string, unknown>>[]>;

/** Of a standby undefined: it has no timeline of its own yet. */
export async function readTimeline(ask: Ask): Promise<string | undefined> {
  try {
    const [row] = await ask(askTimeline);
    return (row?.['timeline'] ?? undefined) as string | undefined;
  } catch (thrown) {
    const error = thrown instanceof FleetqError ? thrown : meaningOf(thrown);
    if (error instanceof StoreUnreachableError || error instanceof StoreBusyError) throw error;
    return NO_TIMELINE;
  }
}

/** A statement for a server that refuses its timeline: a branch around it would be refused too. */
export function withoutTimeline(text: string): string {
  return text.replaceAll(timeline, `'${NO_TIMELINE}'`);
}
