/** Whether a transaction that is left open keeps the server from removing what has ended: claims read it. */
import { showDuration } from '../../ground/index.ts';
import type { Holder, PostgresFacts } from '../../store/postgres/facts.ts';
import type { Check } from '../doctor-checks.ts';

const OLD_MS = 5 * 60_000;
/** Of what has no time: some minutes of a busy fleet. */
const MANY_TRANSACTIONS = 1_000_000;

export function transactionsCheck({ holders }: Pick<PostgresFacts, 'holders'>): Check {
  const name = 'transactions';
  if (holders === undefined) {
    const fact = 'the role is not shown those of other roles: grant pg_read_all_stats to it';
    return { name, verdict: 'ok', fact };
  }
  const old = holders.find(isOld);
  const [oldest] = holders;
  const ageOf = (held: Holder) => `the oldest began ${showDuration(held.ms ?? 0)} ago`;
  if (!old) {
    const fact = oldest?.ms === undefined ? 'none is open for long' : ageOf(oldest);
    return { name, verdict: 'ok', fact };
  }
  const where = old.database === undefined ? '' : `, database ${old.database}`;
  const pid = old.pid === undefined ? '' : `, pid ${old.pid}`;
  const since =
    old.ms === undefined
      ? `${old.transactions} transactions`
      : `what ended in the last ${showDuration(old.ms)}`;
  return {
    name,
    verdict: 'warn',
    fact: `the ${old.kind} ${old.name}${pid}${where} keeps ${since} from being removed`,
    fix: fixOf(old),
  };
}

function isOld({ ms, transactions }: Holder): boolean {
  return ms === undefined ? transactions > MANY_TRANSACTIONS : ms > OLD_MS;
}

function fixOf({ kind, name, pid }: Holder): string {
  switch (kind) {
    case 'session':
      return `end it: select pg_terminate_backend(${pid}); see docs/runbooks/oldest-transaction.md`;
    case 'prepared transaction':
      return `end it in its database: rollback prepared '${name}'`;
    case 'replication slot':
      return `let its reader catch up, or drop it: select pg_drop_replication_slot('${name}')`;
    case 'standby':
      return 'end long queries of the standby, or turn its hot_standby_feedback off';
  }
}
