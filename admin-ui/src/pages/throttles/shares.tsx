/** Who has which share of an API's permits: a strip of all of them, and a row for each pod. */
import { useRef } from 'react';
import { Meter } from '../../components/meter.tsx';
import { useRowKeys } from '../../components/use-row-keys.ts';
import { showCount } from '../../format/words.ts';
import { Link } from '../../router/router.tsx';
import type { Throttle, ThrottleShare } from '../../services/fleet-types.ts';
import { permitsOf, showLimit } from './throttle-words.ts';

/** More would be thinner than a line. */
const STRIP_MAX = 60;
const ROWS_MAX = 200;

export function Shares({ throttle: { pods, cap } }: { throttle: Throttle }) {
  const table = useRef<HTMLDivElement>(null);
  useRowKeys(table);
  if (pods.length === 0) return <p className="nothing">No pod calls it now.</p>;
  const sorted = [...pods].sort((a, b) => b.share - a.share || (a.name < b.name ? -1 : 1));
  return (
    <>
      <Strip pods={sorted} cap={cap} />
      <div className="data-scroll" ref={table}>
        <table className="data">
          <thead>
            <tr>
              <th scope="col">Pod</th>
              <th scope="col" className="right">
                Share
              </th>
              <th scope="col">Out</th>
              <th scope="col" className="right">
                Waiting
              </th>
            </tr>
          </thead>
          <tbody>
            {sorted.slice(0, ROWS_MAX).map((pod) => (
              <tr key={pod.pod}>
                <td>
                  <Link to={`/pods/${encodeURIComponent(pod.pod)}`} title={pod.pod} data-row>
                    {pod.name}
                  </Link>{' '}
                  <span className="quiet mono">…{pod.pod.slice(-6)}</span>
                </td>
                <td className="right number">{showLimit(pod.share)}</td>
                <td>
                  <Meter
                    value={pod.inFlight}
                    max={Math.max(pod.inFlight, permitsOf(pod.share))}
                    label={`${pod.inFlight} out, of a share of ${showLimit(pod.share)}`}
                  />
                </td>
                <td className="right number">{showCount(pod.waiting)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {sorted.length > ROWS_MAX && (
        <p className="data-foot">And {showCount(sorted.length - ROWS_MAX)} more pods.</p>
      )}
    </>
  );
}

function Strip({ pods, cap }: { pods: readonly ThrottleShare[]; cap: number | undefined }) {
  const shown = pods.slice(0, STRIP_MAX).filter(({ share }) => share > 0);
  const whole = Math.max(
    cap ?? 0,
    shown.reduce((sum, { share }) => sum + share, 0),
  );
  if (whole <= 0) return null;
  let from = 0;
  return (
    <svg
      className="share-strip"
      viewBox="0 0 1000 14"
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      <rect className="meter-room" width="1000" height="14" />
      {shown.map(({ pod, name, share }) => {
        const width = (share / whole) * 1_000;
        const at = from;
        from += width;
        return (
          <rect key={pod} className="share" x={at} width={Math.max(1, width - 3)} height="14">
            <title>{`${name}: ${showLimit(share)}`}</title>
          </rect>
        );
      })}
    </svg>
  );
}
