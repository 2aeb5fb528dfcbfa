/** What each phase takes: half of the runs, nearly all, the slowest; and how often it fails. */
import { showSpan } from '../../format/time.ts';
import type { PhaseStat } from './machine-rows.ts';

export function PhaseTimes({ stats, runs }: { stats: readonly PhaseStat[]; runs: number }) {
  const most = Math.max(1, ...stats.map(({ p95 }) => p95));
  return (
    <>
      <table className="data times-table">
        <thead>
          <tr>
            <th scope="col">Phase</th>
            <th scope="col" className="times-bar">
              <span className="offscreen">p50 and p95 as bars</span>
            </th>
            <th scope="col" className="right">
              p50
            </th>
            <th scope="col" className="right">
              p95
            </th>
            <th scope="col" className="right wide">
              Slowest
            </th>
            <th scope="col" className="right">
              Failures
            </th>
          </tr>
        </thead>
        <tbody>
          {stats.map((stat) => (
            <Row key={stat.phase} stat={stat} most={most} />
          ))}
        </tbody>
      </table>
      <p className="data-foot quiet">Of the last {runs} runs that are on record.</p>
    </>
  );
}

function Row({ stat, most }: { stat: PhaseStat; most: number }) {
  const { phase, count, p50, p95, failures, tries } = stat;
  const width = (ms: number) => Math.max(1, (ms / most) * 100);
  if (count === 0) {
    return (
      <tr>
        <td>{phase}</td>
        <td colSpan={5} className="quiet">
          nothing on record
        </td>
      </tr>
    );
  }
  return (
    <tr>
      <td>{phase}</td>
      <td className="times-bar">
        <svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
          <rect className="bar-p95" width={width(p95)} height="10" />
          <rect className="bar-p50" width={width(p50)} height="10" />
        </svg>
      </td>
      <td className="right number">{showSpan(p50)}</td>
      <td className="right number">{showSpan(p95)}</td>
      <td className="right number wide">{showSpan(stat.most)}</td>
      <td className="right number">
        {failures === 0 ? (
          <span className="quiet">0</span>
        ) : (
          <span className="figure figure-bad" title={`${failures} of ${tries} tries`}>
            {Math.round((failures / tries) * 100)} %
          </span>
        )}
      </td>
    </tr>
  );
}
