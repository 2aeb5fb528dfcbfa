/** The frame: who is let in, where one can go, and what every page has around it. */
import { lazy, Suspense, useState } from 'react';
import { Frame } from './components/frame.tsx';
import { Help } from './components/help.tsx';
import { useKeys } from './components/keys.ts';
import { Boundary, Loading, Refusal } from './components/panel.tsx';
import { Toasts } from './components/toast.tsx';
import type { Times } from './format/time.ts';
import { Login } from './pages/login.tsx';
import { RunsPage } from './pages/runs/runs-page.tsx';
import { choose, type Theme, useSettings } from './platform/settings.ts';
import { go, Link, usePlace } from './router/router.tsx';
import { stream } from './services/live.tsx';
import { SessionProvider, useEntrance } from './services/session.tsx';

const OverviewPage = lazy(() =>
  import('./pages/overview/overview-page.tsx').then((m) => ({ default: m.OverviewPage })),
);
const MachinesPage = lazy(() =>
  import('./pages/machines/machines-page.tsx').then((m) => ({ default: m.MachinesPage })),
);
const MachinePage = lazy(() =>
  import('./pages/machines/machine-page.tsx').then((m) => ({ default: m.MachinePage })),
);
const PodsPage = lazy(() =>
  import('./pages/pods/pods-page.tsx').then((m) => ({ default: m.PodsPage })),
);
const PodPage = lazy(() =>
  import('./pages/pods/pod-page.tsx').then((m) => ({ default: m.PodPage })),
);
const RunPage = lazy(() =>
  import('./pages/run/run-page.tsx').then((m) => ({ default: m.RunPage })),
);

const NEXT_THEME: Record<Theme, Theme> = { auto: 'light', light: 'dark', dark: 'auto' };
const NEXT_TIMES: Record<Times, Times> = { relative: 'local', local: 'utc', utc: 'relative' };

export function App() {
  const { entrance, enter } = useEntrance();
  switch (entrance.kind) {
    case 'asking':
      return <Loading what="FleetQ" />;
    case 'unknown':
      return <Login onIn={enter} />;
    case 'refused':
      return (
        <main className="alone">
          <h1>FleetQ</h1>
          <Refusal error={entrance.error} onAgain={enter} />
        </main>
      );
    case 'in':
      return (
        <SessionProvider session={entrance.session}>
          <Inside />
          <Toasts />
        </SessionProvider>
      );
  }
}

function Inside() {
  const [isHelping, setHelping] = useState(false);
  const { theme, times } = useSettings();
  const { path } = usePlace();
  useKeys({
    'g o': () => go('/overview'),
    'g r': () => go('/runs'),
    'g m': () => go('/machines'),
    'g p': () => go('/pods'),
    '?': () => setHelping(true),
    p: () => stream.pause(stream.state !== 'paused'),
    t: () => choose({ theme: NEXT_THEME[theme] }),
    z: () => choose({ times: NEXT_TIMES[times] }),
  });
  return (
    <Frame onHelp={() => setHelping(true)}>
      <Boundary key={path} name="This page">
        <Suspense fallback={<Loading what="the page" />}>
          <Page path={path} />
        </Suspense>
      </Boundary>
      {isHelping && <Help onClose={() => setHelping(false)} />}
    </Frame>
  );
}

function Page({ path }: { path: string }) {
  const run = /^\/(?:runs|r)\/([^/]+)$/.exec(path)?.[1];
  if (run !== undefined) return <RunPage key={run} id={decodeURIComponent(run)} />;
  const pod = /^\/pods\/([^/]+)$/.exec(path)?.[1];
  if (pod !== undefined) return <PodPage key={pod} id={decodeURIComponent(pod)} />;
  const machine = /^\/machines\/([^/]+)$/.exec(path)?.[1];
  if (machine !== undefined) {
    return <MachinePage key={machine} name={decodeURIComponent(machine)} />;
  }
  if (path === '/overview') return <OverviewPage />;
  if (path === '/machines') return <MachinesPage />;
  if (path === '/pods') return <PodsPage />;
  if (path === '/' || path === '/runs' || path === '/runs/') return <RunsPage />;
  return (
    <main className="alone">
      <h1>There is no such page</h1>
      <p>
        <Link to="/runs">Go to the runs</Link>
      </p>
    </main>
  );
}
