/** What needs somebody, each a link to where one sees more of it. */
import { useRef } from 'react';
import { Icon, StatusIcon } from '../../components/icon.tsx';
import { useRowKeys } from '../../components/use-row-keys.ts';
import { Link } from '../../router/router.tsx';
import type { Need } from './attention.ts';

const SHOWN_MAX = 12;

export function Needs({ needs, isKnown }: { needs: readonly Need[]; isKnown: boolean }) {
  const list = useRef<HTMLUListElement>(null);
  useRowKeys(list);
  if (needs.length === 0) {
    return (
      <p className="all-well panel" role="status">
        {isKnown ? (
          <>
            <Icon sign="up" />
            Nothing needs you.
          </>
        ) : (
          'Looking around…'
        )}
      </p>
    );
  }
  return (
    <section className="panel needs" aria-label="Needs attention">
      <header className="panel-head">
        <h2>Needs attention</h2>
        <span className="quiet">{needs.length}</span>
      </header>
      <ul ref={list}>
        {needs.slice(0, SHOWN_MAX).map((need) => (
          <li key={need.what} data-level={need.level}>
            <StatusIcon kind={need.level === 'bad' ? 'failed' : 'blocked'} />
            <span className="offscreen">{need.level === 'bad' ? 'Bad:' : 'Worth a look:'}</span>
            <Link to={need.to} data-row>
              {need.what}
            </Link>
            <span className="quiet need-why" title={need.why}>
              {need.why}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
