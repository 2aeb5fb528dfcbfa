/** The band above the list: the histogram of what is filtered, and how far it looks back. */
import { useEffect, useMemo, useRef } from 'react';
import type { Term } from '../../../../src/query/index.ts';
import { Boundary, Refusal } from '../../components/panel.tsx';
import { useSecond } from '../../components/time.tsx';
import { now } from '../../platform/clock.ts';
import { get, queryText } from '../../services/api.ts';
import type { Histogram as Data } from '../../services/types.ts';
import { useLoad } from '../../services/use-load.ts';
import { createdIn, withCreated, withoutCreated } from './filter-text.ts';
import { Histogram } from './histogram.tsx';

export const WINDOWS: Readonly<Record<string, number>> = {
  '5m': 300_000,
  '1h': 3_600_000,
  '6h': 21_600_000,
  '24h': 86_400_000,
  '7d': 604_800_000,
  '30d': 2_592_000_000,
};
const WINDOW_OTHERWISE = '1h';
const BUCKETS = 90;
/** The last bucket grows meanwhile; this often it is worth another look. */
const LOOK_EVERY_S = 5;

interface BandProps {
  readonly terms: readonly Term[];
  readonly filter: string;
  readonly span: string | undefined;
  readonly isLive: boolean;
  readonly onSpan: (span: string) => void;
  readonly onFilter: (text: string) => void;
}

export function TimelineBand({ terms, filter, span, isLive, onSpan, onFilter }: BandProps) {
  const second = useSecond();
  const created = createdIn(terms);
  const chosen = span !== undefined && span in WINDOWS ? span : WINDOW_OTHERWISE;
  const beat = isLive ? Math.floor(second / LOOK_EVERY_S) : 0;
  // biome-ignore lint/correctness/useExhaustiveDependencies: it moves on with each beat
  const range = useMemo(() => {
    const nowMs = now();
    const instant = (when: { at: number } | { agoMs: number } | undefined, otherwise: number) =>
      when === undefined ? otherwise : 'at' in when ? when.at : nowMs - when.agoMs;
    const until = instant(created?.until, nowMs);
    const from = instant(created?.from, until - WINDOWS[chosen]!);
    return {
      from: Math.floor(from),
      until: Math.max(Math.ceil(until), Math.floor(from) + BUCKETS),
    };
  }, [filter, chosen, beat]);
  const path = `/runs/histogram${queryText({ filter, ...range, buckets: BUCKETS })}`;
  const found = useLoad(`${filter} ${chosen}`, (signal) => get<Data>(path, signal));
  useReloadOn(beat, found.reload);
  return (
    <div className="band">
      <Boundary name="The histogram">
        {found.data ? (
          <Histogram
            data={found.data}
            nowMs={range.until}
            onPick={(from, until) => onFilter(withCreated(terms, from, until))}
          />
        ) : found.error ? (
          found.error.code === 'FLEETQ_NO_STORE' ? null : (
            <Refusal error={found.error} onAgain={found.reload} />
          )
        ) : (
          <div className="histogram" />
        )}
      </Boundary>
      {created ? (
        <button type="button" className="small" onClick={() => onFilter(withoutCreated(terms))}>
          All times
        </button>
      ) : (
        <label className="inline">
          <span className="offscreen">The histogram shows the last</span>
          <select value={chosen} onChange={(event) => onSpan(event.target.value)}>
            {Object.keys(WINDOWS).map((each) => (
              <option key={each} value={each}>
                last {each}
              </option>
            ))}
          </select>
        </label>
      )}
    </div>
  );
}

/** Not with the first beat, which has asked already. */
function useReloadOn(beat: number, reload: () => void): void {
  const last = useRef(beat);
  useEffect(() => {
    if (last.current === beat) return;
    last.current = beat;
    if (beat !== 0) reload();
  }, [beat, reload]);
}
