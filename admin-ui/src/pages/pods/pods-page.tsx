/** The pods: who is there, who leads, who was rescued from whom. */
import { useState } from 'react';
import { LiveBadge } from '../../components/live-badge.tsx';
import { Boundary, Loading, Refusal } from '../../components/panel.tsx';
import { useTitle } from '../../components/use-title.ts';
import { plural } from '../../format/words.ts';
import { Link, usePlace, withQuery } from '../../router/router.tsx';
import type { PodRow } from '../../services/fleet-types.ts';
import { useMayDo } from '../../services/session.tsx';
import { DrainDialog } from './drain-dialog.tsx';
import { Leaders } from './leaders.tsx';
import { hasLeft, sorted } from './pod-state.ts';
import { PodsTable } from './pods-table.tsx';
import { SweepLog } from './sweep-log.tsx';
import { usePods } from './use-pods.ts';
import '../../styles/acts.css';
import '../../styles/run.css';
import '../../styles/run-parts.css';
import '../../styles/fleet.css';

export function PodsPage() {
  useTitle('Pods');
  const place = usePlace();
  const { pods, leading, sweeps, nameOf, reload } = usePods();
  const mayDrain = useMayDo('admin');
  const [draining, setDraining] = useState<PodRow>();
  const isAll = place.query.get('all') === 'true';
  const all = pods.data?.pods ?? [];
  const shown = sorted(isAll ? all : all.filter((pod) => !hasLeft(pod)));
  const omitted = pods.data?.omitted ?? 0;
  const leftCount = all.filter(hasLeft).length;
  return (
    <main className="fleet-page">
      <header className="page-head">
        <h1>Pods</h1>
        {pods.data && <span className="count number">{all.length - leftCount}</span>}
        <LiveBadge />
      </header>
      {pods.data && leading.data && leading.data.leader === null && all.length > leftCount && (
        <p className="notice" role="status">
          <strong>Nobody leads.</strong> Until a pod is up that was heard of lately, nobody rescues
          what dead pods held.
        </p>
      )}
      <Boundary name="The pods">
        {pods.error && !pods.data ? (
          <Refusal error={pods.error} onAgain={reload} />
        ) : !pods.data ? (
          <Loading what="pods" />
        ) : shown.length === 0 ? (
          <div className="nothing panel">
            <strong>No pod is up.</strong>
            <p>
              Start one with <code>fleetq worker</code>
            </p>
          </div>
        ) : (
          <PodsTable {...{ pods: shown, nameOf, mayDrain, onDrain: setDraining }} />
        )}
      </Boundary>
      {leftCount > 0 && (
        <p className="list-foot">
          <Link to={withQuery(place, { all: isAll ? undefined : 'true' })}>
            {isAll
              ? 'Hide those that are gone'
              : `Show ${plural(leftCount, 'pod')} that ${leftCount === 1 ? 'is' : 'are'} gone`}
          </Link>
          {isAll && omitted > 0 && `, ${plural(omitted, 'older pod')} not shown`}
        </p>
      )}
      {pods.data && (
        <div className="fleet-columns">
          <SweepLog loaded={sweeps} nameOf={nameOf} />
          <Leaders loaded={leading} />
        </div>
      )}
      {draining && (
        <DrainDialog
          pod={draining}
          pods={all}
          onClose={() => setDraining(undefined)}
          onDone={reload}
        />
      )}
    </main>
  );
}
