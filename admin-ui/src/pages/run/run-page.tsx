/** One run: what it is, why it stands where it does, what it did, and what can be done about it. */
import { useCallback, useMemo, useRef, useState } from 'react';
import { useKeys } from '../../components/keys.ts';
import { Boundary, Loading, Panel, Refusal } from '../../components/panel.tsx';
import { useSecond } from '../../components/time.tsx';
import { useTitle } from '../../components/use-title.ts';
import { kindOf } from '../../format/words.ts';
import { now } from '../../platform/clock.ts';
import { backTo, go, Link, usePlace, withQuery } from '../../router/router.tsx';
import { get } from '../../services/api.ts';
import { useLiveState } from '../../services/live.tsx';
import { useSession } from '../../services/session.tsx';
import type { Explained, Run, RunRecord } from '../../services/types.ts';
import { useAskSoon } from '../../services/use-ask-soon.ts';
import { useCalm } from '../../services/use-calm.ts';
import { useLoad } from '../../services/use-load.ts';
import { Actions } from './actions.tsx';
import { ContextPanel, Json } from './context-panel.tsx';
import { type Course, isPhase, Teller } from './course.ts';
import { ErrorPanel } from './error-panel.tsx';
import { EventLog } from './event-log.tsx';
import { ExplainBanner } from './explain-banner.tsx';
import { LineDiagram, phasesOf } from './line-diagram.tsx';
import { hasMasked, Reveal } from './reveal.tsx';
import { BackHead, RunHead } from './run-head.tsx';
import { SameAs } from './same-as.tsx';
import { Timeline } from './timeline.tsx';
import { useRecords } from './use-records.ts';
import { whyOf } from './why.ts';
import '../../styles/acts.css';
import '../../styles/run.css';
import '../../styles/run-parts.css';

/** However much happens, so often it is asked what has become of it. */
const LOOK_MS = 400;

export function RunPage({ id }: { id: string }) {
  const [isRevealed, setRevealed] = useState(false);
  const isLive = useLiveState() !== 'paused';
  const reveal = isRevealed ? '?reveal=true' : '';
  const path = `/runs/${encodeURIComponent(id)}`;
  const run = useLoad(`${id} ${isRevealed}`, (signal) => get<Run>(path + reveal, signal));
  const why = useLoad(`${id} ${isRevealed}`, (signal) =>
    get<Explained>(`${path}/explain${reveal}`, signal),
  );
  const reload = useCallback(() => {
    run.reload();
    why.reload();
  }, [run.reload, why.reload]);
  const soon = useAskSoon(reload, LOOK_MS);
  // The records of what has ended say nothing new of it, however many come.
  const hasEnded = run.data?.finishedAt !== undefined;
  const onChange = (event: string) => {
    if (event !== 'record' || !hasEnded) soon();
  };
  const records = useRecords(id, { isRevealed, isLive, onChange });
  useKeys({ ['Escape']: () => go(backTo('/runs')) });
  if (run.error && !run.data) {
    return (
      <main className="run-page">
        <BackHead />
        <h1>Run</h1>
        <Refusal error={run.error} onAgain={reload} />
      </main>
    );
  }
  if (!run.data) {
    return (
      <main className="run-page">
        <BackHead />
        <h1>Run</h1>
        <Loading what="the run" />
      </main>
    );
  }
  return (
    <Told
      run={run.data}
      records={records}
      why={why}
      isRevealed={isRevealed}
      onReveal={() => setRevealed(true)}
      onDone={reload}
    />
  );
}

function useCourse(run: Run, records: readonly RunRecord[]): Course {
  const teller = useRef<Teller>(undefined);
  // Only what has not ended grows by the second.
  const second = useSecond();
  const tick = run.finishedAt === undefined ? second : 0;
  // biome-ignore lint/correctness/useExhaustiveDependencies: an open span grows with time
  return useMemo(() => {
    if (!teller.current?.fits(run, records)) teller.current = new Teller(run.createdAt);
    return teller.current.tell(run, records, now());
  }, [run, records, tick]);
}

interface ToldProps {
  readonly run: Run;
  readonly records: ReturnType<typeof useRecords>;
  readonly why: ReturnType<typeof useLoad<Explained>>;
  readonly isRevealed: boolean;
  readonly onReveal: () => void;
  readonly onDone: () => void;
}

function Told({ run, records: told, why, isRevealed, onReveal, onDone }: ToldProps) {
  const place = usePlace();
  useTitle(`${run.machine} ${run.id}`);
  const { machines, podNames } = useSession();
  const { records } = told;
  const last = records.at(-1);
  // Its row knows of a record only when its owner has settled.
  const seq = Math.max(run.seq ?? -1, last?.seq ?? -1);
  const acted = useMemo(() => ({ ...run, seq }), [run, seq]);
  const asked = Number(place.query.get('at') ?? Number.NaN);
  const picked = records[asked];
  const chosen = picked ?? last;
  // The server folds a history for each: while records pour in, the last one is always another.
  const calm = useCalm(last, LOOK_MS);
  const looked = picked ?? calm ?? last;
  const onAt = (seq: number) => go(withQuery(place, { at: `${seq}` }), 'replace');
  const podName = useCallback(
    (pod: string) => podNames.get(pod) ?? `…${pod.slice(-6)}`,
    [podNames],
  );
  const machine = machines.find(
    ({ name, version }) => name === run.machine && version === run.version,
  );
  const course = useCourse(run, records);
  const phases = useMemo(() => phasesOf(machine, course.phases), [machine, course.phases]);
  const at = records.findLast(({ state }) => isPhase(state))?.state ?? run.state;
  return (
    <main className="run-page">
      <RunHead run={run} podName={podName} />
      <Boundary name="The explanation">
        <ExplainBanner loaded={why} kind={kindOf(run)} onAt={onAt} />
      </Boundary>
      <div className="run-bar">
        <Actions run={acted} phases={phases} onDone={onDone} />
        <Link className="button small" to={`/compare?a=${encodeURIComponent(run.id)}`}>
          Compare…
        </Link>
        {hasMasked(run) && <Reveal isRevealed={isRevealed} onReveal={onReveal} />}
      </div>
      {phases.length > 0 && (
        <section className="panel" aria-label="Line">
          <Boundary name="The line">
            <LineDiagram run={run} at={at} phases={phases} times={course.times} />
          </Boundary>
        </section>
      )}
      <div className="run-columns">
        <div className="run-main">
          <Panel title="Timeline">
            {course.count > 0 ? (
              <Timeline
                course={course}
                phases={phases}
                podName={podName}
                at={chosen?.seq}
                onPick={onAt}
              />
            ) : (
              <p className="nothing">Nothing has happened yet.</p>
            )}
          </Panel>
          <Panel title="Events">
            {told.error ? (
              <Refusal error={told.error} />
            ) : told.isLoading ? (
              <Loading what="events" />
            ) : records.length === 0 ? (
              <p className="nothing">No record of it is left, or none was written yet.</p>
            ) : (
              <EventLog
                records={records}
                at={chosen?.seq}
                isPicked={picked !== undefined}
                onAt={onAt}
                podName={podName}
              />
            )}
          </Panel>
        </div>
        <div className="run-side">
          <ErrorPanel run={run} />
          {looked ? (
            <Panel title="Context">
              <ContextPanel
                id={run.id}
                record={looked}
                why={whyOf(looked, { before: records[looked.seq - 1], podName })}
                isRevealed={isRevealed}
              />
            </Panel>
          ) : (
            <Panel title="Input">
              <Json value={run.input} what="the input" />
            </Panel>
          )}
          {run.output !== undefined && run.output !== null && (
            <Panel title="Output">
              <Json value={run.output} what="the output" />
            </Panel>
          )}
          <SameAs run={run} />
        </div>
      </div>
    </main>
  );
}
