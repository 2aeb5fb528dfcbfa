/**
 * Why a run does not run, or how it ended; and why phases of it ran twice. Pure: facts in, findings
 * out, the reason first. There is always one: a run of which nothing can be said does not exist.
 */
import { explainCourse } from './course.ts';
import { explainEnd } from './ended.ts';
import { type Facts, isOfTask } from './facts.ts';
import type { Finding } from './finding.ts';
import { explainFree } from './free.ts';
import { explainHeld } from './held.ts';
import { explainLocal } from './local.ts';
import { explainPast } from './past.ts';

export function explain(facts: Facts): Finding[] {
  return [...present(facts), ...explainCourse(facts), ...explainPast(facts)];
}

function present(facts: Facts): Finding[] {
  if (!isOfTask(facts)) return explainLocal(facts);
  const { row, failure, records } = facts;
  switch (row.status) {
    case 'pending':
    case 'waiting':
      return explainFree(facts);
    case 'claimed':
      return explainHeld(facts);
    case 'completed':
    case 'failed':
    case 'cancelled': {
      const finishedAt = row.finishedAt ?? row.updatedAt;
      const outcome = row.outcome ?? (row.status === 'failed' ? 'aborted' : row.status);
      const last = records.at(-1)?.event;
      const reason = last && 'reason' in last ? last.reason : undefined;
      return explainEnd(facts, { outcome, startedAt: row.createdAt, finishedAt, failure, reason });
    }
  }
}
