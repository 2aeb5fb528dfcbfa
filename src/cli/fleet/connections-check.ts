/** Whether there are connections left for pods that start: one that finds none is without a store. */
import type { Connections, PostgresFacts } from '../../store/postgres/facts.ts';
import type { Check } from '../doctor-checks.ts';

/** Pods that start want more than pods that rest. */
const USED_SHARE = 0.8;

/** Of several limits the one that is reached first. */
export function connectionsCheck({ connections }: Pick<PostgresFacts, 'connections'>): Check {
  const name = 'connections';
  const told = connections.filter(({ whose, countMax }) => whose !== 'server' || countMax > 0);
  const [least] = told.sort((one, other) => leftOf(one) - leftOf(other));
  if (!least)
    return { name, verdict: 'ok', fact: 'the server does not tell how many there may be' };
  const fact = `${least.count} of ${least.countMax} in use${whereOf(least)}`;
  return least.count <= USED_SHARE * least.countMax
    ? { name, verdict: 'ok', fact }
    : { name, verdict: 'warn', fact, fix: fixOf(least) };
}

function leftOf({ count, countMax }: Connections): number {
  return countMax - count;
}

function whereOf({ whose, name, reserved }: Connections): string {
  if (whose !== 'server') return `, by the limit of the ${whose} ${name}`;
  return reserved > 0 ? `; ${reserved} more are reserved for other roles` : '';
}

function fixOf({ whose, name }: Connections): string {
  const raise =
    whose === 'server' ? 'raise max_connections' : `alter ${whose} ${name} connection limit …`;
  return `${raise}, give pods a smaller poolSize, or put a pooler in between`;
}
