/** A list that comes in pages, each asked for with the cursor of the one before. */
import { useCallback, useEffect, useRef, useState } from 'react';
import { type ApiError, get } from './api.ts';
import { asApiError } from './use-load.ts';

export interface Page<R> {
  readonly rows: readonly R[];
  readonly cursor?: string | undefined;
}

export interface Pages<R> {
  readonly rows: readonly R[];
  readonly cursor: string | undefined;
  readonly error: ApiError | undefined;
  readonly isLoading: boolean;
  more(): void;
  /** The first page anew; what is known of the rest stays. */
  reload(): void;
}

interface PagesOptions<A, R> {
  /** Asked without a cursor, and then with each that was answered. */
  readonly path: (cursor: string | undefined) => string;
  readonly read: (answer: A) => Page<R>;
  readonly keyOf: (row: R) => string;
}

interface State<R> {
  readonly of: string | undefined;
  readonly rows: readonly R[];
  readonly cursor: string | undefined;
  readonly error: ApiError | undefined;
  readonly isLoading: boolean;
}

/** Beyond this nobody scrolls: a filter leads there. */
export const ROWS_MAX = 10_000;

/** `of` says what is asked for; undefined asks for nothing. */
export function usePages<A, R>(of: string | undefined, options: PagesOptions<A, R>): Pages<R> {
  const [state, setState] = useState<State<R>>(blank(of));
  const current = useRef({ state, options });
  current.current = { state, options };
  const aborter = useRef(new AbortController());
  const load = useCallback((cursor: string | undefined, isAnew: boolean) => {
    const { signal } = aborter.current;
    setState((before) => ({ ...before, isLoading: true, error: undefined }));
    get<A>(current.current.options.path(cursor), signal).then(
      (answer) => {
        if (signal.aborted) return;
        const { read, keyOf } = current.current.options;
        setState((before) => joined(before, read(answer), { isAnew, cursor, keyOf }));
      },
      (thrown) => {
        if (signal.aborted) return;
        setState((before) => ({ ...before, error: asApiError(thrown), isLoading: false }));
      },
    );
  }, []);
  useEffect(() => {
    if (of === undefined) return;
    aborter.current = new AbortController();
    setState(blank(of));
    load(undefined, false);
    return () => aborter.current.abort();
  }, [of, load]);
  const more = useCallback(() => {
    const { cursor, isLoading, error, rows } = current.current.state;
    if (cursor && !isLoading && !error && rows.length < ROWS_MAX) load(cursor, false);
  }, [load]);
  const reload = useCallback(() => {
    if (!current.current.state.isLoading) load(undefined, true);
  }, [load]);
  return { ...(state.of === of ? state : blank<R>(of)), more, reload };
}

function blank<R>(of: string | undefined): State<R> {
  const nothing = { rows: [], cursor: undefined, error: undefined };
  return { of, ...nothing, isLoading: of !== undefined };
}

interface Joining<R> {
  readonly isAnew: boolean;
  readonly cursor: string | undefined;
  readonly keyOf: (row: R) => string;
}

/** A first page that came anew stands before what was known, each row once. */
function joined<R>(before: State<R>, page: Page<R>, { isAnew, cursor, keyOf }: Joining<R>) {
  const done = { ...before, isLoading: false, error: undefined };
  if (!isAnew) {
    const rows = cursor === undefined ? page.rows : [...before.rows, ...page.rows];
    return { ...done, rows, cursor: page.cursor };
  }
  const fresh = new Set(page.rows.map(keyOf));
  const last = before.rows.findLastIndex((row) => fresh.has(keyOf(row)));
  // Where nothing of it was known, there may be a hole between: it is begun anew.
  if (last < 0 || page.cursor === undefined) {
    return { ...done, rows: page.rows, cursor: page.cursor };
  }
  return { ...done, rows: [...page.rows, ...before.rows.slice(last + 1)] };
}
