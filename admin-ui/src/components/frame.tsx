/** What is around every page: where to go, how times and colours are shown, who one is. */
import type { ReactNode } from 'react';
import type { Times } from '../format/time.ts';
import { choose, type Theme, useSettings } from '../platform/settings.ts';
import { Link, usePlace } from '../router/router.tsx';
import { useSession } from '../services/session.tsx';
import { Icon, type Sign } from './icon.tsx';

const PAGES: readonly { to: string; name: string; sign: Sign }[] = [
  { to: '/overview', name: 'Overview', sign: 'overview' },
  { to: '/runs', name: 'Runs', sign: 'runs' },
  { to: '/machines', name: 'Machines', sign: 'machines' },
  { to: '/pods', name: 'Pods', sign: 'pods' },
];

export function Frame({ onHelp, children }: { onHelp: () => void; children: ReactNode }) {
  const { path } = usePlace();
  const isAt = (to: string) => path.startsWith(to) || (to === '/runs' && path === '/');
  return (
    <div className="frame">
      <a className="skip" href="#main">
        Skip to the content
      </a>
      <nav className="rail" aria-label="Pages">
        <Link to="/overview" className="brand" aria-label="FleetQ: the overview">
          <Brand />
          FleetQ
        </Link>
        <ul>
          {PAGES.map(({ to, name, sign }) => (
            <li key={to}>
              <Link to={to} aria-current={isAt(to) ? 'page' : undefined}>
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

function Preferences({ onHelp }: { onHelp: () => void }) {
  const { theme, times } = useSettings();
  const { who, status, logOut } = useSession();
  return (
    <div className="preferences">
      <label>
        <span aria-hidden="true">Times</span>
        <select
          aria-label="Times"
          value={times}
          onChange={(event) => choose({ times: event.target.value as Times })}
        >
          <option value="relative">Relative</option>
          <option value="local">Local</option>
          <option value="utc">UTC</option>
        </select>
      </label>
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
