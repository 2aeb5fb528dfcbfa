/** Who was rescued from whom and why, as sweeps have written it down; newest first. */
import { useMemo } from 'react';
import { Loading, Panel, Refusal } from '../../components/panel.tsx';
import { Time } from '../../components/time.tsx';
import { plural } from '../../format/words.ts';
import { Link } from '../../router/router.tsx';
import type { Rescue, Sweep, SweepPage } from '../../services/fleet-types.ts';
import type { Loaded } from '../../services/use-load.ts';
import { whyText } from './pod-state.ts';

const SHOWN_MAX = 50;
const NAMED_MAX = 6;

interface SweepLogProps {
  readonly loaded: Loaded<SweepPage>;
  readonly nameOf: (pod: string) => string;
  /** Only what was taken from this one. */
  readonly pod?: string;
}

interface Entry {
  readonly sweep: Sweep;
  readonly rescue: Rescue;
}

export function SweepLog({ loaded, nameOf, pod }: SweepLogProps) {
  const entries = useMemo(() => entriesOf(loaded.data?.sweeps ?? [], pod), [loaded.data, pod]);
  return (
    <Panel title="Sweeps">
      {loaded.error && !loaded.data ? (
        <Refusal error={loaded.error} onAgain={loaded.reload} />
      ) : !loaded.data ? (
        <Loading what="sweeps" />
      ) : entries.length === 0 ? (
        <p className="nothing">
          {pod === undefined ? 'Nobody had to be rescued.' : 'Nothing was taken from this pod.'}
        </p>
      ) : (
        <ol className="sweeps">
          {entries.map(({ sweep, rescue }) => (
            <Line key={`${sweep.id} ${rescue.pod}`} {...{ sweep, rescue, nameOf }} />
          ))}
        </ol>
      )}
    </Panel>
  );
}

function entriesOf(sweeps: readonly Sweep[], pod: string | undefined): readonly Entry[] {
  return sweeps
    .flatMap((sweep) => (sweep.rescues ?? []).map((rescue) => ({ sweep, rescue })))
    .filter(({ rescue }) => pod === undefined || rescue.pod === pod)
    .slice(0, SHOWN_MAX);
}

function Line({ sweep, rescue, nameOf }: Entry & { readonly nameOf: (pod: string) => string }) {
  const all = rescue.requeued + rescue.failed + rescue.cancelled + rescue.waitingForHost;
  const parts = [
    rescue.requeued > 0 && `${rescue.requeued} given back`,
    rescue.failed > 0 && `${rescue.failed} failed for good`,
    rescue.cancelled > 0 && `${rescue.cancelled} cancelled`,
    rescue.waitingForHost > 0 && `${rescue.waitingForHost} wait for its host`,
  ].filter(Boolean);
  return (
    <li data-bad={rescue.failed > 0 || rescue.error !== undefined || undefined}>
      <span className="sweep-at">
        <Time at={sweep.finishedAt ?? sweep.updatedAt} />
      </span>
      <div>
        <p>
          <Link to={`/pods/${encodeURIComponent(rescue.pod)}`}>{nameOf(rescue.pod)}</Link>{' '}
          {whyText(rescue.why)}:{' '}
          <strong>{all === 0 ? 'it held nothing' : `${plural(all, 'run')} taken from it`}</strong>
          {all > 0 && <span className="quiet">, {parts.join(', ')}</span>}
        </p>
        {rescue.error && <p className="sweep-error">Not to the end: {rescue.error}</p>}
        {rescue.tasks.length > 0 && (
          <p className="sweep-tasks">
            {rescue.tasks.slice(0, NAMED_MAX).map((task) => (
              <Link key={task} to={`/runs/${encodeURIComponent(task)}`} title={task}>
                …{task.slice(-8)}
              </Link>
            ))}
            {all > NAMED_MAX && <span className="quiet">and {all - NAMED_MAX} more</span>}
          </p>
        )}
      </div>
      <Link
        className="quiet sweep-run"
        to={`/runs/${encodeURIComponent(sweep.id)}`}
        aria-label={`The sweep ${sweep.id}`}
      >
        sweep
      </Link>
    </li>
  );
}
