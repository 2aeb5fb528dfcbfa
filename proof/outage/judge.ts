/** What the tables say of what was acknowledged, and whether anything was done twice. */
import { setTimeout as sleep } from 'node:timers/promises';
import { runOn } from '../../test/support/postgres.ts';
import type { Pods } from './pods.ts';

const LOOK_MS = 100;

/** Of these tasks, how many are not there, and how many have not ended well. */
export async function standingOf(
  url: string,
  ids: readonly string[],
): Promise<{ readonly missing: string[]; readonly open: string[] }> {
  const rows = await runOn<{ id: string; status: string }>(
    url,
    'select task_id as id, status from step_tracker where task_id = any ($1)',
    [ids],
  );
  const status = new Map(rows.map((row) => [row.id, row.status]));
  return {
    missing: ids.filter((id) => !status.has(id)),
    open: ids.filter((id) => status.has(id) && status.get(id) !== 'completed'),
  };
}

/** Answers how long it took until everything that was acknowledged had ended. */
export async function catchUp(
  url: () => string,
  pods: Pods,
  secondsMax: number,
): Promise<{ readonly ms: number; readonly lost: string[]; readonly open: string[] }> {
  const begunMs = performance.now();
  for (;;) {
    const ids = [...pods.idsOf('enqueued'), ...pods.idsOf('local'), ...pods.idsOf('settled')];
    const found = await standingOf(url(), [...new Set(ids)]).catch(() => undefined);
    const ms = Math.round(performance.now() - begunMs);
    const isLate = ms > secondsMax * 1_000;
    const left = found ? found.missing.length + found.open.length : ids.length;
    if (left === 0 || isLate) return { ms, lost: found?.missing ?? ids, open: found?.open ?? [] };
    if (!pods.areUp) throw new Error(`a pod died:\n${pods.trouble}`);
    await sleep(LOOK_MS);
  }
}

/** Runs whose work was called more than once. */
export function doubledIn(pods: Pods): string[] {
  const seen = new Set<string>();
  const twice = new Set<string>();
  for (const id of pods.idsOf('worked')) (seen.has(id) ? twice : seen).add(id);
  return [...twice];
}
