/** The frame: who is let in, where one can go, and what every page has around it. */
import { Suspense, useState } from 'react';
import { Frame } from './components/frame.tsx';
import { Help } from './components/help.tsx';
import { useKeys } from './components/keys.ts';
import { later } from './components/later.ts';
import { Boundary, Loading, Refusal } from './components/panel.tsx';
import { Toasts } from './components/toast.tsx';
import type { Times } from './format/time.ts';
import { Login } from './pages/login.tsx';
import { PAGES, pageAt } from './pages/pages.tsx';
import { choose, type Theme, useSettings } from './platform/settings.ts';
import { go, Link, usePlace } from './router/router.tsx';
import { stream } from './services/live.tsx';
import { SessionProvider, useEntrance } from './services/session.tsx';

const NEXT_THEME: Record<Theme, Theme> = { auto: 'light', light: 'dark', dark: 'auto' };
const TIMES: readonly Times[] = ['relative', 'local', 'utc'];
const Palette = later<{ onClose: () => void; onHelp: () => void }>(() =>
  import('./pages/palette.tsx').then((m) => m.Palette),
);

/** After a zone of one's own it begins anew. */
const nextTimes = (times: Times): Times => TIMES[(TIMES.indexOf(times) + 1) % TIMES.length]!;

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
  const [isAsking, setAsking] = useState(false);
  const { theme, times } = useSettings();
  const { path } = usePlace();
  useKeys({
    ...Object.fromEntries(PAGES.map(({ to, key }) => [key, () => go(to)])),
    '?': () => setHelping(true),
    p: () => stream.pause(stream.state !== 'paused'),
    t: () => choose({ theme: NEXT_THEME[theme] }),
    z: () => choose({ times: nextTimes(times) }),
    'Mod k': () => setAsking(true),
  });
  return (
    <Frame pages={PAGES} onHelp={() => setHelping(true)} onAsk={() => setAsking(true)}>
      <Boundary key={path} name="This page">
        <Suspense fallback={<Loading what="the page" />}>
          <Page path={path} />
        </Suspense>
      </Boundary>
      {isHelping && <Help pages={PAGES} onClose={() => setHelping(false)} />}
      {isAsking && (
        <Suspense>
          <Palette onClose={() => setAsking(false)} onHelp={() => setHelping(true)} />
        </Suspense>
      )}
    </Frame>
  );
}

function Page({ path }: { path: string }) {
  return (
    pageAt(path) ?? (
      <main className="alone">
        <h1>There is no such page</h1>
        <p>
          <Link to="/runs">Go to the runs</Link>
        </p>
      </main>
    )
  );
}
