/** Something asked for while it is looked at: loading, there, or refused; asked again on demand. */
import { useCallback, useEffect, useRef, useState } from 'react';
import { ApiError } from './api.ts';

export interface Loaded<T> {
  /** Stays while it is asked for again. */
  readonly data: T | undefined;
  readonly error: ApiError | undefined;
  readonly isLoading: boolean;
  reload(): void;
}

interface State<T> {
  readonly key: string | undefined;
  readonly data: T | undefined;
  readonly error: ApiError | undefined;
  readonly isLoading: boolean;
}

export function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  return new ApiError(0, 'UNEXPECTED', (error as Error).message);
}

/** `key` says what is asked for; undefined asks for nothing. */
export function useLoad<T>(
  key: string | undefined,
  load: (signal: AbortSignal) => Promise<T>,
): Loaded<T> {
  const [turn, setTurn] = useState(0);
  const [state, setState] = useState<State<T>>(BLANK);
  const asked = useRef(load);
  asked.current = load;
  // biome-ignore lint/correctness/useExhaustiveDependencies: a turn asks again for the same
  useEffect(() => {
    if (key === undefined) return;
    const aborter = new AbortController();
    setState((before) => {
      const isSame = before.key === key;
      return { ...(isSame ? before : { ...BLANK, key }), isLoading: true };
    });
    asked.current(aborter.signal).then(
      (data) => {
        if (aborter.signal.aborted) return;
        setState({ key, data, error: undefined, isLoading: false });
      },
      (error) => {
        if (aborter.signal.aborted) return;
        setState((before) => ({ ...before, error: asApiError(error), isLoading: false }));
      },
    );
    return () => aborter.abort();
  }, [key, turn]);
  const reload = useCallback(() => setTurn((before) => before + 1), []);
  const shown = state.key === key ? state : { ...BLANK, isLoading: key !== undefined };
  return { data: shown.data, error: shown.error, isLoading: shown.isLoading, reload };
}

const BLANK = { key: undefined, data: undefined, error: undefined, isLoading: false };
