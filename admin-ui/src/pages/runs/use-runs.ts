/**
 * The rows of a filter: pages, as far as somebody scrolls, and what has changed among them since. The
 * server alone says what fits: of changed runs it is asked which still do.
 */
import { useCallback, useEffect, useRef, useState } from 'react';
import { after } from '../../platform/clock.ts';
import { type ApiError, get, queryText } from '../../services/api.ts';
import { stream, useFollow } from '../../services/live.tsx';
import type { Heard } from '../../services/stream.ts';
import type { Run, RunPage } from '../../services/types.ts';
import { asApiError } from '../../services/use-load.ts';
import { merge } from './merge.ts';

const PAGE_COUNT = 100;
/** Beyond this nobody scrolls: the histogram and the filter lead there. */
export const ROWS_MAX = 10_000;
/** A filter may have so many characters, and so many go for one id. */
const [FILTER_LENGTH_MAX, ID_LENGTH] = [2_000, 27];
const LOOK_MS = 600;

export interface Rows {
  readonly rows: readonly Run[];
  readonly cursor: string | undefined;
  readonly lookedBackTo: number | undefined;
  readonly error: ApiError | undefined;
  readonly isLoading: boolean;
  /** How often something has changed: for whatever counts. */
  readonly changes: number;
  more(): void;
  reload(): void;
}

const EMPTY = { rows: [], cursor: undefined, lookedBackTo: undefined, error: undefined };

const pathOf = (filter: string, cursor?: string, limit = PAGE_COUNT) =>
  `/runs${queryText({ filter, cursor, limit })}`;

export function useRuns(filter: string, isValid: boolean): Rows {
  const [state, setState] = useState<Omit<Rows, 'more' | 'reload'>>({
    ...EMPTY,
    isLoading: true,
    changes: 0,
  });
  const [turn, setTurn] = useState(0);
  const aborter = useRef(new AbortController());
  const current = useRef(state);
  const shown = useRef<string>(undefined);
  current.current = state;

  const load = useCallback(
    (cursor: string | undefined) => {
      const { signal } = aborter.current;
      setState((before) => ({ ...before, isLoading: true, error: undefined }));
      get<RunPage>(pathOf(filter, cursor), signal).then(
        (page) => {
          if (signal.aborted) return;
          setState((before) => ({
            ...before,
            rows: cursor === undefined ? page.runs : [...before.rows, ...page.runs],
            cursor: page.cursor,
            lookedBackTo: page.lookedBackTo,
            isLoading: false,
          }));
        },
        (error) => {
          if (signal.aborted) return;
          setState((before) => ({ ...before, error: asApiError(error), isLoading: false }));
        },
      );
    },
    [filter],
  );

  // biome-ignore lint/correctness/useExhaustiveDependencies: a turn asks again for the same
  useEffect(() => {
    if (!isValid) return;
    aborter.current = new AbortController();
    // The same asked again stays until it is there; another filter has nothing to show yet.
    if (shown.current !== filter) setState((before) => ({ ...before, ...EMPTY }));
    shown.current = filter;
    load(undefined);
    return () => aborter.current.abort();
  }, [load, isValid, turn]);

  const reload = useCallback(() => setTurn((before) => before + 1), []);
  const more = useCallback(() => {
    const { cursor, isLoading, rows, error } = current.current;
    if (cursor !== undefined && !isLoading && !error && rows.length < ROWS_MAX) load(cursor);
  }, [load]);

  useChanges(
    isValid,
    async (ids) => {
      const { signal } = aborter.current;
      const { rows } = current.current;
      const known = new Set(rows.map(({ id }) => id));
      // Ids begin with a time: what is older than the last row is not looked at yet.
      const oldest = current.current.cursor === undefined ? '' : (rows.at(-1)?.id ?? '');
      const wanted = ids.filter((id) => known.has(id) || id >= oldest);
      const askedMax = Math.floor((FILTER_LENGTH_MAX - filter.length - 4) / ID_LENGTH);
      const isFew = wanted.length <= askedMax;
      const asked = new Set(isFew ? wanted : []);
      const terms = `${filter} id:${[...asked].join(',')}`.trim();
      const page = await get<RunPage>(
        isFew && asked.size > 0 ? pathOf(terms) : pathOf(filter),
        signal,
      );
      if (signal.aborted) return;
      const ofHead = new Set(page.runs.map(({ id }) => id));
      setState((before) => {
        const change = {
          asked: isFew ? asked : ofHead,
          found: page.runs,
          hasMore: before.cursor !== undefined,
        };
        return { ...before, rows: merge(before.rows, change), changes: before.changes + 1 };
      });
    },
    reload,
  );

  return { ...state, more, reload };
}

/** Collects which runs have changed, and asks about all of them at once. */
function useChanges(
  isOn: boolean,
  look: (ids: readonly string[]) => Promise<void>,
  reset: () => void,
): void {
  const waiting = useRef(new Set<string>());
  const isBusy = useRef(false);
  const currentLook = useRef(look);
  currentLook.current = look;
  const arm = useCallback(() => {
    if (isBusy.current) return;
    isBusy.current = true;
    after(LOOK_MS, async () => {
      // What came before a pause waits for its end.
      if (stream.state === 'paused') {
        isBusy.current = false;
        return;
      }
      const ids = [...waiting.current];
      waiting.current.clear();
      // One that fails is made up for by the next: the list stays as it is meanwhile.
      await currentLook.current(ids).catch(() => undefined);
      isBusy.current = false;
      if (waiting.current.size > 0) arm();
    });
  }, []);
  useFollow(isOn ? 'runs' : undefined, ({ event, data }: Heard) => {
    if (event === 'reset') return reset();
    if (event === 'hello' && data.isResumed === false) return reset();
    if (event === 'hello' && waiting.current.size > 0) arm();
    if (event !== 'runs') return;
    for (const { id } of data.changes ?? []) waiting.current.add(id);
    arm();
  });
}
