/** How many runs a filter finds: up to a bound, and counted again as they change. */
import { useEffect } from 'react';
import { get, queryText } from '../../services/api.ts';
import { useSession } from '../../services/session.tsx';
import type { RunCount } from '../../services/types.ts';
import { useLoad } from '../../services/use-load.ts';

/** So many changes of the list pass before it is counted again. */
const COUNT_EVERY = 5;

interface Counted {
  readonly isValid: boolean;
  readonly changes: number;
}

export function useCount(filter: string, { isValid, changes }: Counted): RunCount | undefined {
  const { status } = useSession();
  const turn = Math.floor(changes / COUNT_EVERY);
  const isAsked = isValid && status.serves?.store !== false;
  const { data, reload } = useLoad(isAsked ? filter : undefined, (signal) =>
    get<RunCount>(`/runs/count${queryText({ filter })}`, signal),
  );
  useEffect(() => {
    if (turn > 0) reload();
  }, [turn, reload]);
  return data;
}
