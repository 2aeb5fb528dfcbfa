/** One API: its limit and why it is that, who has which share, and what people may do about it. */
import { type ReactNode, useState } from 'react';
import { Icon } from '../../components/icon.tsx';
import { useKeys } from '../../components/keys.ts';
import { LiveBadge } from '../../components/live-badge.tsx';
import { Loading, Panel, Refusal } from '../../components/panel.tsx';
import { useTitle } from '../../components/use-title.ts';
import { showSpan } from '../../format/time.ts';
import { showCount } from '../../format/words.ts';
import { backTo, go, Link } from '../../router/router.tsx';
import { get } from '../../services/api.ts';
import type { Throttle } from '../../services/fleet-types.ts';
import { useMayDo } from '../../services/session.tsx';
import { useBeat } from '../../services/use-beat.ts';
import { useLoad } from '../../services/use-load.ts';
import type { Order } from './effects.ts';
import { Shares } from './shares.tsx';
import { ThrottleDialog } from './throttle-dialog.tsx';
import { Mood, Out, Pinned } from './throttle-parts.tsx';
import { pathOf, showBasis, showDeclared, showLimit, showParked } from './throttle-words.ts';
import '../../styles/acts.css';
import '../../styles/run.css';
import '../../styles/run-parts.css';
import '../../styles/fleet.css';
import '../../styles/throttles.css';

const BEAT_MS = 3_000;

export function ThrottlePage({ api }: { api: string }) {
  const { data, error, reload } = useLoad(api, (signal) => get<Throttle>(pathOf(api), signal));
  const [order, setOrder] = useState<Order>();
  const mayOperate = useMayDo('operate');
  const isThere = mayOperate && data !== undefined;
  const isPinned = data?.pinned !== undefined;
  useBeat(BEAT_MS, reload);
  useTitle(`${api} · Throttles`);
  useKeys({
    ['Escape']: () => go(backTo('/throttles')),
    f: () => isThere && setOrder('pin'),
    u: () => isThere && isPinned && setOrder('unpin'),
    r: () => isThere && setOrder('reset'),
  });
  return (
    <main className="fleet-page">
      <div className="page-head">
        <Link to={backTo('/throttles')} className="back">
          <Icon sign="back" />
          Throttles
        </Link>
        <LiveBadge />
      </div>
      {(!data || error?.status === 404) && <h1 className="api">{api}</h1>}
      {error && (!data || error.status === 404) ? (
        <Refusal error={error} onAgain={reload} />
      ) : !data ? (
        <Loading what="the API" />
      ) : (
        <>
          <Head throttle={data}>
            {mayOperate && <Buttons {...{ isPinned, onOrder: setOrder }} />}
          </Head>
          <Panel title="Pods">
            <Shares throttle={data} />
          </Panel>
        </>
      )}
      {order && data && (
        <ThrottleDialog
          throttle={data}
          order={order}
          onClose={() => setOrder(undefined)}
          onDone={reload}
        />
      )}
    </main>
  );
}

interface ButtonsProps {
  readonly isPinned: boolean;
  readonly onOrder: (order: Order) => void;
}

function Buttons({ isPinned, onOrder }: ButtonsProps) {
  return (
    <span className="throttle-buttons">
      <button type="button" onClick={() => onOrder('pin')}>
        Fix the limit
      </button>
      {isPinned && (
        <button type="button" onClick={() => onOrder('unpin')}>
          Let go of it
        </button>
      )}
      <button type="button" onClick={() => onOrder('reset')}>
        Forget what is known
      </button>
    </span>
  );
}

function Head({ throttle, children }: { throttle: Throttle; children: ReactNode }) {
  const { api, state, cap, isAdaptive, learned, latencyMs, now, decision, ageMs } = throttle;
  const declared = showDeclared(throttle);
  return (
    <header className="panel pod-head">
      <div className="pod-title">
        <h1 className="api">{api}</h1>
        <Mood throttle={throttle} />
        {children}
      </div>
      <p className="throttle-state" role="status">
        {state}
      </p>
      <Pinned throttle={throttle} />
      <dl className="facts">
        <Fact name="Limit" value={showLimit(cap)} />
        <Fact name="Goes by" value={showBasis(throttle)} />
        <Fact name="Out" value={<Out throttle={throttle} />} />
        <Fact name="Waiting" value={showCount(now?.waiting ?? 0)} />
        <Fact name="Parked runs" value={showParked(throttle)} />
        <Fact name="Refused in 10 s" value={now ? `${now.throttled} of ${now.sent}` : '–'} />
        <Fact name="Failed in 10 s" value={now ? showCount(now.failed) : '–'} />
        {isAdaptive && <Fact name="Found to go well" value={showLimit(learned)} />}
        {declared !== undefined && <Fact name="Declared at most" value={declared} />}
        {latencyMs !== undefined && <Fact name="A call takes" value={showSpan(latencyMs)} />}
        {isAdaptive && <Fact name="Done last" value={decision ?? 'nothing'} />}
        <Fact name="Reported" value={`${showSpan(ageMs)} ago`} />
      </dl>
    </header>
  );
}

function Fact({ name, value }: { name: string; value: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}
