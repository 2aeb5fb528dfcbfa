/**
 * The way to claim where a claim of many has failed by what a row holds: rows that cannot be counted
 * with are mended, the rest is claimed one by one, and whatever cannot be claimed even then becomes a
 * dead letter. So no row stops a claimer.
 */
import { describeError } from '../../ground/index.ts';
import { rowRefused } from '../reasons.ts';
import { type Behind, partsOf } from '../shares.ts';
import type { ClaimRequest } from '../tasks.ts';
import { isBadRow } from './driver-errors.ts';
import type { Pool, Row } from './pool.ts';
import { claimTask, selectHead } from './step-tracker-claim.sql.ts';
import { failTask, mendTasks } from './step-tracker-mend.sql.ts';

/** One statement each: so many of the most urgent, and the next claim goes on. */
const COUNT_MAX = 50;

export async function claimSingly(
  pool: Pool,
  request: ClaimRequest,
  count: number,
  payloadBytesMax: number,
): Promise<Row[]> {
  const { pod, routes, journal, token, head, timeline } = request;
  const at = [pod, routes, journal];
  const from = [behindOf(request.behind), []];
  const found = await pool.query(selectHead[head], [...at, COUNT_MAX, ...from]);
  const ids = found.map((row) => row['task_id'] as string);
  await pool.query(mendTasks, [ids]);
  const claimed: Row[] = [];
  for (const id of ids) {
    if (claimed.length >= count) break;
    try {
      const values = [...at, id, ...from, token, payloadBytesMax, timeline ?? null, 1];
      claimed.push(...(await pool.query(claimTask[head], values)));
    } catch (error) {
      if (!isBadRow(error)) throw error;
      await setAside(pool, id, error);
    }
  }
  return claimed;
}

/** As the statements want it: by route and urgency. */
export function behindOf(behind: Behind): string {
  const routes = new Map<string, [urgency: number, queue: string][]>();
  for (const [level, queue] of behind ?? []) {
    const { route, priority } = partsOf(level);
    routes.set(route, [...(routes.get(route) ?? []), [~priority, queue]]);
  }
  return JSON.stringify(
    Object.fromEntries([...routes].map(([route, of]) => [route, Object.fromEntries(of)])),
  );
}

/** Where the tables do not even allow that, the others are claimed past it. */
async function setAside(pool: Pool, id: string, cause: unknown): Promise<void> {
  try {
    await pool.query(failTask, [id, rowRefused(describeError(cause).message)]);
  } catch (error) {
    if (!isBadRow(error)) throw error;
  }
}
