/** Who led since when. */
import { Loading, Panel, Refusal } from '../../components/panel.tsx';
import { Time } from '../../components/time.tsx';
import { Link } from '../../router/router.tsx';
import type { Leading } from '../../services/fleet-types.ts';
import type { Loaded } from '../../services/use-load.ts';
import { Crown } from './pod-parts.tsx';

const SHOWN_MAX = 20;

export function Leaders({ loaded: { data, error, reload } }: { loaded: Loaded<Leading> }) {
  return (
    <Panel title="Leaders">
      {error && !data ? (
        <Refusal error={error} onAgain={reload} />
      ) : !data ? (
        <Loading what="who led" />
      ) : data.terms.length === 0 ? (
        <p className="nothing">Nobody has led yet.</p>
      ) : (
        <ol className="terms">
          {data.terms.slice(0, SHOWN_MAX).map(({ pod, name, since }, index) => (
            <li key={`${pod} ${since}`}>
              <span className="term-crown">
                {index === 0 && pod === data.leader?.pod && <Crown />}
              </span>
              <Link to={`/pods/${encodeURIComponent(pod)}`} title={pod}>
                {name}
              </Link>
              <span className="quiet">
                since <Time at={since} />
              </span>
            </li>
          ))}
        </ol>
      )}
    </Panel>
  );
}
