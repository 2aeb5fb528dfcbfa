/** Filters with a name: those that everybody has a use for, and one's own. */
import { useState } from 'react';
import { Dialog } from '../../components/dialog.tsx';
import { Icon } from '../../components/icon.tsx';
import type { View } from '../../format/view.ts';
import { choose, NAME_LENGTH_MAX, useSettings, VIEWS_MAX } from '../../platform/settings.ts';
import { Link, type Place, withQuery } from '../../router/router.tsx';
import { KNOWN_VIEWS } from './known-views.ts';
import '../../styles/acts.css';

interface ViewsProps {
  readonly place: Place;
  readonly filter: string;
  readonly isValid: boolean;
}

export function Views({ place, filter, isValid }: ViewsProps) {
  const { views } = useSettings();
  const [isNaming, setNaming] = useState(false);
  const isKnown = [...KNOWN_VIEWS, ...views].some((view) => view.filter === filter);
  const linkTo = ({ name, filter: of }: View) => (
    <Link
      to={withQuery(place, { q: of })}
      title={of}
      aria-current={filter === of ? 'true' : undefined}
    >
      {name}
    </Link>
  );
  return (
    <nav className="views" aria-label="Views">
      <ul>
        {KNOWN_VIEWS.map((view) => (
          <li key={view.name}>{linkTo(view)}</li>
        ))}
        {views.map((view) => (
          <li key={view.name} className="own-view">
            {linkTo(view)}
            <button
              type="button"
              className="ghost small"
              aria-label={`Remove the view ${view.name}`}
              onClick={() => choose({ views: views.filter((each) => each !== view) })}
            >
              <Icon sign="close" />
            </button>
          </li>
        ))}
      </ul>
      {!isKnown && isValid && (
        <button type="button" className="small" onClick={() => setNaming(true)}>
          Save this view
        </button>
      )}
      {isNaming && <Naming filter={filter} views={views} onClose={() => setNaming(false)} />}
    </nav>
  );
}

interface NamingProps {
  readonly filter: string;
  readonly views: readonly View[];
  readonly onClose: () => void;
}

function Naming({ filter, views, onClose }: NamingProps) {
  const [text, setText] = useState('');
  const name = text.trim();
  const wrong = whyNot(name, views);
  const save = () => {
    choose({ views: [...views, { name, filter }] });
    onClose();
  };
  return (
    <Dialog title="Save this view" isFieldFirst onClose={onClose}>
      <form
        className="act"
        onSubmit={(event) => {
          event.preventDefault();
          if (wrong === undefined) save();
        }}
      >
        <p>
          <code>{filter}</code>
        </p>
        <label>
          <span>Name</span>
          <input
            value={text}
            maxLength={NAME_LENGTH_MAX}
            autoComplete="off"
            onChange={(event) => setText(event.target.value)}
          />
        </label>
        <p className="quiet" role="status">
          {name !== '' && wrong !== undefined
            ? wrong
            : 'This browser keeps it; links need no view.'}
        </p>
        <div className="act-buttons">
          <button type="button" onClick={onClose}>
            Leave it
          </button>
          <button type="submit" className="primary" aria-disabled={wrong !== undefined}>
            Save it
          </button>
        </div>
      </form>
    </Dialog>
  );
}

function whyNot(name: string, views: readonly View[]): string | undefined {
  if (name === '') return 'It needs a name.';
  if ([...KNOWN_VIEWS, ...views].some((view) => view.name === name))
    return 'There is one of that name.';
  return views.length >= VIEWS_MAX ? `There are ${VIEWS_MAX} already: remove one.` : undefined;
}
