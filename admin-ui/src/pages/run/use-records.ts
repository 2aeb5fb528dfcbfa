/**
 * The records of a run: the first thousand by a question, the rest and whatever comes by the stream.
 * Where it is paused, or payloads are revealed, all of them by questions.
 */
import { useCallback, useEffect, useRef, useState } from 'react';
import { after } from '../../platform/clock.ts';
import { type ApiError, get, queryText } from '../../services/api.ts';
import { useFollow } from '../../services/live.tsx';
import type { RecordPage, RunRecord } from '../../services/types.ts';
import { asApiError } from '../../services/use-load.ts';

const PAGES_MAX = 100;
/** What comes in one breath is shown in one go. */
const SHOW_MS = 100;

export interface Records {
  readonly records: readonly RunRecord[];
  readonly error: ApiError | undefined;
  readonly isLoading: boolean;
  readonly source: string | undefined;
}

interface RecordsOptions {
  readonly isRevealed: boolean;
  readonly isLive: boolean;
  /** Told after each change, whatever it was. */
  readonly onChange: (event: string) => void;
}

export function useRecords(id: string, { isRevealed, isLive, onChange }: RecordsOptions): Records {
  const [shown, setShown] = useState<Records>(BLANK);
  const held = useRef<RunRecord[]>([]);
  const isArmed = useRef(false);
  const aborter = useRef(new AbortController());
  const show = useCallback(() => {
    if (isArmed.current) return;
    isArmed.current = true;
    after(SHOW_MS, () => {
      isArmed.current = false;
      setShown((before) => ({ ...before, records: held.current.slice() }));
    });
  }, []);
  const add = useCallback((record: RunRecord) => {
    // Numbered without a hole: what does not follow belongs to a history that is told anew.
    if (record.seq <= held.current.length) held.current[record.seq] = record;
  }, []);
  const load = useCallback(
    async (signal: AbortSignal, isWhole: boolean) => {
      for (let page = 0; page < PAGES_MAX; page++) {
        const query = { after: held.current.length - 1, reveal: isRevealed ? 'true' : undefined };
        const path = `/runs/${encodeURIComponent(id)}/events${queryText(query)}`;
        const found = await get<RecordPage>(path, signal);
        if (signal.aborted) return;
        for (const record of found.events) add(record);
        setShown({
          records: held.current.slice(),
          error: undefined,
          isLoading: false,
          source: found.source,
        });
        if (!found.hasMore || !isWhole) return;
      }
    },
    [id, isRevealed, add],
  );
  const isAsking = isRevealed || !isLive;
  useEffect(() => {
    aborter.current = new AbortController();
    const { signal } = aborter.current;
    held.current = [];
    load(signal, isAsking).catch((error) => {
      if (signal.aborted) return;
      setShown({ ...BLANK, error: asApiError(error), isLoading: false });
    });
    return () => aborter.current.abort();
  }, [load, isAsking]);
  useFollow(`run:${id}`, ({ event, data }) => {
    if (data.run !== id) return;
    const { after: kept = -1, seq = -1 } = data;
    if (event === 'rewind') held.current.length = Math.min(held.current.length, kept + 1);
    else if (event === 'record' && !isRevealed) add(data as unknown as RunRecord);
    else if (event === 'record' && seq >= held.current.length) {
      // What fails is asked for again with the next record.
      load(aborter.current.signal, true).catch(() => undefined);
    } else if (event !== 'run') return;
    show();
    onChange(event);
  });
  return shown;
}

const BLANK: Records = { records: [], error: undefined, isLoading: true, source: undefined };
