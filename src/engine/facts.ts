/** What a filter may ask of a run of one host, told by its summary: such a run has no queue and no claims. */
import type { Fact, Facts } from '../query/index.ts';
import type { RunSummary } from './summary.ts';

export function factsOfRun(run: RunSummary): Facts {
  return {
    id: run.id,
    machine: run.machine,
    version: run.version,
    status: run.status,
    outcome: run.outcome,
    key: run.key,
    error: run.error,
    is: isOf(run),
    retries: run.attempt - 1,
    generation: run.generation,
    created: run.startedAt,
    updated: run.updatedAt,
    finished: run.finishedAt,
    due: run.dueAt,
  };
}

function isOf({ status, finishedAt }: RunSummary): Fact[] {
  const facts: Fact[] = [finishedAt === undefined ? 'unfinished' : 'finished'];
  if (status === 'blocked') facts.push('blocked');
  if (status === 'failed') facts.push('dead-letter');
  return facts;
}
