/** A few runs, one a line: for panels, where the list of runs would be too much. */
import { Loading, Refusal } from '../components/panel.tsx';
import { PhaseStrip } from '../components/phase-strip.tsx';
import { Status } from '../components/status.tsx';
import { Span } from '../components/time.tsx';
import { firstLine } from '../format/words.ts';
import { Link } from '../router/router.tsx';
import type { RunPage } from '../services/types.ts';
import type { Loaded } from '../services/use-load.ts';

export function RunLines({ loaded, nothing }: { loaded: Loaded<RunPage>; nothing: string }) {
  const { data, error, reload } = loaded;
  if (error && !data) return <Refusal error={error} onAgain={reload} />;
  if (!data) return <Loading what="runs" />;
  if (data.runs.length === 0) return <p className="nothing">{nothing}</p>;
  return (
    <ul className="run-lines">
      {data.runs.map((run) => (
        <li key={run.id}>
          <PhaseStrip run={run} />
          <Status run={run} />
          <Link to={`/runs/${encodeURIComponent(run.id)}`} title={run.id}>
            {run.machine}
            <span className="quiet">@{run.version}</span>
          </Link>
          <span className="quiet run-line-note" title={firstLine(run.error)}>
            {firstLine(run.error) ?? run.key ?? `…${run.id.slice(-8)}`}
          </span>
          <Span from={run.startedAt ?? run.createdAt} until={run.finishedAt} />
        </li>
      ))}
    </ul>
  );
}
