/** Two runs side by side: what each phase took, what differs in what they know, and where they parted. */
import { type FormEvent, useMemo, useState } from 'react';
import { CopyButton } from '../../components/copy.tsx';
import { Loading, Panel, Refusal } from '../../components/panel.tsx';
import { Status } from '../../components/status.tsx';
import { Span, Time } from '../../components/time.tsx';
import { useTitle } from '../../components/use-title.ts';
import { showSpan } from '../../format/time.ts';
import { firstLine, plural, triesOf } from '../../format/words.ts';
import { now } from '../../platform/clock.ts';
import { go, Link, usePlace, withQuery } from '../../router/router.tsx';
import { useSession } from '../../services/session.tsx';
import { Changes } from '../run/changes.tsx';
import { Teller } from '../run/course.ts';
import { whyOf } from '../run/why.ts';
import { alignedOf, partedAt, type Sides } from './sides.ts';
import { type Side, useSide } from './use-side.ts';
import '../../styles/acts.css';
import '../../styles/fleet.css';
import '../../styles/lists.css';
import '../../styles/run.css';
import '../../styles/run-parts.css';
import '../../styles/compare.css';

export function ComparePage() {
  const place = usePlace();
  useTitle('Compare two runs');
  const [a, b] = [place.query.get('a') ?? '', place.query.get('b') ?? ''];
  const sides = [useSide(a), useSide(b)] as const;
  const error = sides[0].error ?? sides[1].error;
  const [left, right] = [sides[0].data, sides[1].data];
  const again = () => {
    for (const { reload } of sides) reload();
  };
  return (
    <main className="fleet-page compare">
      <header className="page-head">
        <h1>Compare two runs</h1>
        {a !== '' && b !== '' && (
          <Link className="button small" to={withQuery(place, { a: b, b: a })}>
            Swap
          </Link>
        )}
      </header>
      <Which key={`${a} ${b}`} a={a} b={b} onPick={(ids) => go(withQuery(place, ids))} />
      {error ? (
        <Refusal error={error} onAgain={again} />
      ) : left && right ? (
        <Told sides={[left, right]} />
      ) : a !== '' && b !== '' ? (
        <Loading what="both runs" />
      ) : (
        <p className="nothing">Two ids, or two rows that are picked in the list of runs.</p>
      )}
    </main>
  );
}

interface WhichProps {
  readonly a: string;
  readonly b: string;
  readonly onPick: (ids: { a: string; b: string }) => void;
}

function Which({ a, b, onPick }: WhichProps) {
  const [ids, setIds] = useState({ a, b });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onPick({ a: ids.a.trim(), b: ids.b.trim() });
  };
  const field = (name: 'a' | 'b', label: string) => (
    <label>
      <span>{label}</span>
      <input
        className="mono"
        value={ids[name]}
        autoComplete="off"
        spellCheck={false}
        onChange={(event) => setIds({ ...ids, [name]: event.target.value })}
      />
    </label>
  );
  return (
    <form className="act compare-ids" onSubmit={submit}>
      {field('a', 'One run')}
      {field('b', 'Another')}
      <button type="submit">Compare</button>
    </form>
  );
}

function Told({ sides }: { sides: Sides<Side> }) {
  return (
    <>
      <div className="compare-pair">
        {sides.map((side, index) => (
          <Who key={index === 0 ? 'a' : 'b'} side={side} />
        ))}
      </div>
      <Panel title="Phases">
        <Phases sides={sides} />
      </Panel>
      <Panel title="What differs">
        <Changes before={factsOf(sides[0])} after={factsOf(sides[1])} nothing="Nothing differs." />
      </Panel>
      <Panel title="Where they parted">
        <Parting sides={sides} />
      </Panel>
    </>
  );
}

function Who({ side: { run } }: { side: Side }) {
  return (
    <section className="panel compare-who" aria-label={run.id}>
      <div className="run-title">
        <h2>
          <Link to={`/runs/${encodeURIComponent(run.id)}`}>{run.machine}</Link>
          <span className="quiet">@{run.version}</span>
        </h2>
        <Status run={run} />
      </div>
      <p className="run-id">
        <code>{run.id}</code>
        <CopyButton text={run.id} what="the id" />
      </p>
      <p className="quiet">
        created <Time at={run.createdAt} />, took{' '}
        <Span from={run.startedAt ?? run.createdAt} until={run.finishedAt} />,{' '}
        {plural(triesOf(run), 'try', 'tries')}
      </p>
    </section>
  );
}

/** Two bars for each phase, on one scale. */
function Phases({ sides }: { sides: Sides<Side> }) {
  const [a, b] = useMemo(
    () =>
      sides.map(({ run, records }) => new Teller(run.createdAt).tell(run, records, now()).times),
    [sides],
  );
  const phases = alignedOf([...a!.keys()], [...b!.keys()]);
  const most = Math.max(1, ...[...a!.values(), ...b!.values()].map(({ spentMs }) => spentMs));
  if (phases.length === 0) return <p className="nothing">Neither has done anything yet.</p>;
  return (
    <table className="compare-phases">
      <thead>
        <tr>
          <th scope="col">Phase</th>
          <th scope="col">One</th>
          <th scope="col">Another</th>
        </tr>
      </thead>
      <tbody>
        {phases.map((phase) => (
          <tr key={phase}>
            <th scope="row">{phase}</th>
            {[a!.get(phase), b!.get(phase)].map((time, index) => (
              <td key={index === 0 ? 'a' : 'b'}>
                {time === undefined ? (
                  <span className="quiet">–</span>
                ) : (
                  <>
                    <span className="compare-bar" data-failed={time.failures > 0 || undefined}>
                      <i style={{ width: `${(100 * time.spentMs) / most}%` }} />
                    </span>
                    <span className="number">{showSpan(time.spentMs)}</span>
                    {time.tries > 1 && <small className="quiet"> in {time.tries} tries</small>}
                  </>
                )}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function factsOf({ run, records }: Side): object {
  const { machine, version, status, outcome, queue, priority, input, output } = run;
  const failures = records.filter(({ event }) => event.type === 'FAILED').length;
  const error = firstLine(run.error);
  return { machine, version, status, outcome, queue, priority, failures, input, output, error };
}

const SHOWN_COUNT = 12;

/** By what happened, not when: the same events in the same order are the same course. */
function Parting({ sides }: { sides: Sides<Side> }) {
  const [a, b] = [sides[0].records, sides[1].records];
  const parted = partedAt(a, b);
  const { podNames } = useSession();
  const podName = (pod: string) => podNames.get(pod) ?? `…${pod.slice(-6)}`;
  if (parted === undefined) {
    return <p className="nothing">{plural(a.length, 'record')}, the same in both.</p>;
  }
  const from = Math.max(0, parted - 1);
  return (
    <>
      <p className="compare-note">
        {parted === 0
          ? 'They differ from the first record on.'
          : parted === 1
            ? 'The first record tells the same.'
            : `The first ${parted} records tell the same.`}
      </p>
      <div className="compare-pair">
        {sides.map(({ run, records }, index) => (
          <ol key={index === 0 ? 'a' : 'b'} start={from} className="compare-records">
            {records.slice(from, from + SHOWN_COUNT).map((record) => (
              <li key={record.seq} data-same={record.seq < parted || undefined}>
                <Link to={`/runs/${encodeURIComponent(run.id)}?at=${record.seq}`}>
                  #{record.seq} {record.event.type}
                </Link>
                <span>{whyOf(record, { before: records[record.seq - 1], podName })}</span>
              </li>
            ))}
            {records.length <= parted && <li className="quiet">There is no more of this one.</li>}
          </ol>
        ))}
      </div>
    </>
  );
}
