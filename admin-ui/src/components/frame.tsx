/** What is around every page: where to go, how times and colours are shown, who one is. */
import { type ReactNode, Suspense, useEffect, useRef, useState } from 'react';
import type { Times } from '../format/time.ts';
import { choose, type Theme, useSettings } from '../platform/settings.ts';
import { Link, usePlace } from '../router/router.tsx';
import { useSession } from '../services/session.tsx';
import { Icon, type Sign } from './icon.tsx';
import { later } from './later.ts';

/** A page that the rail leads to. */
export interface Listed {
  readonly to: string;
  readonly name: string;
  readonly sign: Sign;
  /** Two keys in a row that lead there. */
  readonly key: string;
}

interface FrameProps {
  readonly pages: readonly Listed[];
  readonly onHelp: () => void;
  /** For the palette. */
  readonly onAsk: () => void;
  readonly children: ReactNode;
}

export function Frame({ pages, onHelp, onAsk, children }: FrameProps) {
  const { path } = usePlace();
  const rail = useRef<HTMLElement>(null);
  // On a narrow screen the list is pushed along to where one is.
  // biome-ignore lint/correctness/useExhaustiveDependencies: with every place
  useEffect(() => {
    const current = rail.current?.querySelector('[aria-current]');
    current?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [path]);
  const isAt = (to: string) =>
    path === to || path.startsWith(`${to}/`) || (to === '/runs' && /^\/(r\/|$)/.test(path));
  return (
    <div className="frame">
      <a className="skip" href="#main">
        Skip to the content
      </a>
      <nav className="rail" aria-label="Pages" ref={rail}>
        <Link to="/runs" className="brand">
          <Brand />
          FleetQ
        </Link>
        <button
          type="button"
          className="ghost small ask"
          title="Go anywhere (Ctrl K)"
          onClick={onAsk}
        >
          <Icon sign="search" />
          Go to…
          <kbd aria-hidden="true">Ctrl K</kbd>
        </button>
        <ul>
          {pages.map(({ to, name, sign, key }) => (
            <li key={to}>
              <Link to={to} aria-current={isAt(to) ? 'page' : undefined} title={`${name} (${key})`}>
                <Icon sign={sign} />
                {name}
              </Link>
            </li>
          ))}
        </ul>
        <Preferences onHelp={onHelp} />
      </nav>
      <div className="content" id="main">
        {children}
      </div>
    </div>
  );
}

function Brand() {
  return (
    <svg viewBox="0 0 32 32" width="22" height="22" aria-hidden="true" className="brand-mark">
      <rect width="32" height="32" rx="8" />
      <path d="M7 16h18" />
      <circle cx="7.5" cy="16" r="3" />
      <circle cx="16" cy="16" r="3" />
      <circle cx="24.5" cy="16" r="3" className="brand-lit" />
    </svg>
  );
}

const OTHER = 'other';
const ZoneDialog = later<{ onClose: () => void }>(() =>
  import('./zone-dialog.tsx').then((m) => m.ZoneDialog),
);

function Preferences({ onHelp }: { onHelp: () => void }) {
  const { theme, times } = useSettings();
  const [isPicking, setPicking] = useState(false);
  const { who, status, logOut } = useSession();
  return (
    <div className="preferences">
      <label>
        <span aria-hidden="true">Times</span>
        <select
          aria-label="Times"
          value={times}
          onChange={({ target: { value } }) =>
            value === OTHER ? setPicking(true) : choose({ times: value as Times })
          }
        >
          <option value="relative">Relative</option>
          <option value="local">Local</option>
          <option value="utc">UTC</option>
          {times.includes('/') && <option value={times}>{times}</option>}
          <option value={OTHER}>Another zone…</option>
        </select>
      </label>
      {isPicking && (
        <Suspense>
          <ZoneDialog onClose={() => setPicking(false)} />
        </Suspense>
      )}
      <label>
        <span aria-hidden="true">Theme</span>
        <select
          aria-label="Theme"
          value={theme}
          onChange={(event) => choose({ theme: event.target.value as Theme })}
        >
          <option value="auto">System</option>
          <option value="light">Light</option>
          <option value="dark">Dark</option>
        </select>
      </label>
      <div className="who">
        <span title={`role ${who.role}`}>
          {who.name} <small>{who.role}</small>
        </span>
        {who.by === 'session' && (
          <button type="button" className="ghost small" aria-label="Log out" onClick={logOut}>
            <Icon sign="leave" />
          </button>
        )}
        <button type="button" className="ghost small" aria-label="Keyboard help" onClick={onHelp}>
          <Icon sign="keys" />
        </button>
      </div>
      {status.version && <small className="version">fleetq {status.version}</small>}
    </div>
  );
}
