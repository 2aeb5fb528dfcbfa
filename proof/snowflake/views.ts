/**
 * The tables of an emulated account as the witness of the chaos runs knows them: its triggers are on the
 * tables themselves, in the Postgres behind the account, and what it reads are views with the types and
 * names of the Postgres store.
 */
import { runOn } from '../../test/support/postgres.ts';

const INTS = (names: string) =>
  names
    .split(' ')
    .map((name) => `${name}::int as ${name}`)
    .join(', ');

const VIEWS = `
  create schema witness;
  create view witness.step_tracker as
    select task_id, task_key as key, machine, status, outcome, result, error, claim_epoch, claimed_by,
           wait_for, finished_at, last_hash, ${INTS('generation last_seq retry_count crashes')}
      from public.step_tracker;
  create view witness.run_events as
    select task_id, epoch, prev_hash, last_hash, state, events,
           ${INTS('generation first_seq last_seq')}
      from public.run_events;
  create view witness.pod_health as
    select pod_id, name, status, dead_by, to_timestamp(last_heartbeat / 1000.0) as last_heartbeat,
           to_timestamp(dead_at / 1000.0) as dead_at
      from public.pod_health;`;

export async function addViews(url: string): Promise<void> {
  await runOn(url, VIEWS);
}

/** Where the views hide the tables of the same names. */
export function viewsUrl(url: string): string {
  const address = new URL(url);
  address.searchParams.set('options', '-c search_path=witness,public');
  return address.href;
}
