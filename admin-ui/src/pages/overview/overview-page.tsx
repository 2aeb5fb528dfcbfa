/** What needs somebody comes first; then how much there is, how it flows, and what it takes. */
import { useMemo } from 'react';
import { LiveBadge } from '../../components/live-badge.tsx';
import { Panel, Refusal } from '../../components/panel.tsx';
import { useTitle } from '../../components/use-title.ts';
import { showSpan } from '../../format/time.ts';
import { showCount } from '../../format/words.ts';
import { go, usePlace, withQuery } from '../../router/router.tsx';
import { stateOf } from '../pods/pod-state.ts';
import { needsOf } from './attention.ts';
import { PhaseBars, QueueBars } from './bars.tsx';
import { Charts } from './charts.tsx';
import { Needs } from './needs.tsx';
import { Tile } from './tile.tsx';
import { type Overview, useOverview, WINDOWS } from './use-overview.ts';
import '../../styles/fleet.css';
import '../../styles/machines.css';
import '../../styles/overview.css';

const WINDOW_OTHERWISE = '1h';

export function OverviewPage() {
  useTitle('Overview');
  const place = usePlace();
  const asked = place.query.get('w') ?? '';
  const span = asked in WINDOWS ? asked : WINDOW_OTHERWISE;
  const overview = useOverview(span);
  const { known, error, reload } = overview;
  const needs = useMemo(() => needsOf(known), [known]);
  return (
    <main className="fleet-page">
      <header className="page-head">
        <h1>Overview</h1>
        <LiveBadge />
      </header>
      {error ? (
        <Refusal error={error} onAgain={reload} />
      ) : (
        <>
          <Needs needs={needs} isKnown={known.pods !== undefined && known.census !== undefined} />
          <Tiles overview={overview} />
          <div className="overview-bar">
            <h2>How it flows</h2>
            <label className="inline">
              <span className="offscreen">The charts show the last</span>
              <select
                value={span}
                onChange={(event) => go(withQuery(place, { w: event.target.value }), 'replace')}
              >
                {Object.keys(WINDOWS).map((each) => (
                  <option key={each} value={each}>
                    last {each}
                  </option>
                ))}
              </select>
            </label>
          </div>
          <Charts flow={overview.flow} timed={overview.timed} range={overview.range} />
          <div className="overview-columns">
            <Panel title="Slowest phases">
              <PhaseBars timed={overview.timed} />
            </Panel>
            <Panel title="Queue age">
              <QueueBars census={known.census} />
            </Panel>
          </div>
        </>
      )}
    </main>
  );
}

const listOf = (filter: string) => `/runs?q=${encodeURIComponent(filter)}`;
const sum = (counts: readonly { readonly count: number }[]) =>
  counts.reduce((all, { count }) => all + count, 0);
/** Where a count ends, there are more. */
const COUNTED_MAX = 10_000;
const told = (count: number) =>
  count >= COUNTED_MAX ? `≥ ${showCount(COUNTED_MAX)}` : showCount(count);

function Tiles({ overview: { known, failedLately } }: { overview: Overview }) {
  const { census, pods } = known;
  const routes = census?.routes ?? [];
  const pending = routes.reduce((all, route) => all + route.pending, 0);
  const waits = routes.flatMap((route) => Object.entries(route.waits));
  const waiting = waits.reduce((all, [, count]) => all + count, 0);
  const retrying = waits.reduce((all, [why, count]) => all + (why === 'retry' ? count : 0), 0);
  const ages = routes.flatMap(({ oldestMs }) => oldestMs ?? []);
  const letters = census ? sum(census.deadLetters) : undefined;
  const up = pods?.filter((pod) => stateOf(pod) === 'up') ?? [];
  // Fewer than there are slots: what comes back from a wait is to find one.
  const room = up.reduce((all, { report }) => all + (report?.capacity ?? 0), 0);
  return (
    <ul className="tiles" aria-label="How much there is">
      <Tile
        name="Running"
        value={census && told(sum(census.claimed))}
        note={room > 0 ? `pods take up to ${showCount(room)}` : 'claimed by pods'}
        to={listOf('status:claimed')}
        kind="run"
      />
      <Tile
        name="Pending"
        value={census && told(pending)}
        note={ages.length > 0 ? `the oldest due for ${showSpan(Math.max(...ages))}` : 'none is due'}
        to={listOf('status:pending')}
        kind="off"
      />
      <Tile
        name="Waiting"
        value={census && told(waiting)}
        note={`${told(retrying)} to be tried again`}
        to={listOf('status:waiting')}
        kind="wait"
      />
      <Tile
        name="Failed, last hour"
        value={
          failedLately && `${failedLately.isExact ? '' : '≥ '}${showCount(failedLately.count)}`
        }
        note="for good"
        to={listOf('status:failed finished:<1h')}
        kind={failedLately && failedLately.count > 0 ? 'bad' : 'off'}
      />
      <Tile
        name="Dead letters"
        value={letters === undefined ? undefined : told(letters)}
        note="failed, and not put away"
        to={listOf('is:dead-letter')}
        kind={letters ? 'bad' : 'off'}
      />
      <Tile
        name="Pods up"
        value={pods && showCount(up.length)}
        note={pods?.find(({ isLeader }) => isLeader)?.name.concat(' leads') ?? 'nobody leads'}
        to="/pods"
        kind={pods && up.length === 0 ? 'bad' : 'ok'}
      />
    </ul>
  );
}
