/** Go anywhere by a few letters: pages, views, machines, a run by its id, a search. */
import { type KeyboardEvent, useId, useLayoutEffect, useRef, useState } from 'react';
import { Dialog } from '../components/dialog.tsx';
import { choose, useSettings } from '../platform/settings.ts';
import { go } from '../router/router.tsx';
import { stream } from '../services/live.tsx';
import { useSession } from '../services/session.tsx';
import { type Choice, choicesFor } from './choices.ts';
import { PAGES } from './pages.tsx';
import { KNOWN_VIEWS } from './runs/known-views.ts';
import '../styles/palette.css';

interface PaletteProps {
  readonly onClose: () => void;
  readonly onHelp: () => void;
}

export function Palette({ onClose, onHelp }: PaletteProps) {
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const all = useChoices(onHelp);
  const choices = choicesFor(text, all);
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const chosen = Math.min(at, choices.length - 1);
  // biome-ignore lint/correctness/useExhaustiveDependencies: with every step
  useLayoutEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' });
  }, [chosen, text]);
  const take = (choice: Choice | undefined) => {
    if (!choice) return;
    onClose();
    if (choice.to === undefined) choice.act?.();
    else go(choice.to);
  };
  const press = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      setAt((chosen + step + choices.length) % Math.max(1, choices.length));
    } else if (event.key === 'Enter') {
      event.preventDefault();
      take(choices[chosen]);
    }
  };
  return (
    <Dialog title="Go to…" isFieldFirst onClose={onClose}>
      <input
        role="combobox"
        aria-label="Page, view, machine, run id, or text"
        aria-expanded="true"
        aria-controls={id}
        aria-activedescendant={choices.length > 0 ? `${id}-${chosen}` : undefined}
        value={text}
        placeholder="Page, view, machine, run id, or text"
        autoComplete="off"
        spellCheck={false}
        onChange={(event) => {
          setText(event.target.value);
          setAt(0);
        }}
        onKeyDown={press}
      />
      <div
        id={id}
        ref={list}
        role="listbox"
        tabIndex={-1}
        aria-label="Where to"
        className="palette"
      >
        {choices.map((choice, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the keys
          <div
            key={`${choice.kind} ${choice.name}`}
            id={`${id}-${index}`}
            role="option"
            aria-selected={index === chosen}
            // The field keeps the focus.
            tabIndex={-1}
            onClick={() => take(choice)}
          >
            <span>{choice.name}</span>
            <small className="quiet">{choice.kind}</small>
          </div>
        ))}
      </div>
    </Dialog>
  );
}

function useChoices(onHelp: () => void): readonly Choice[] {
  const { views } = useSettings();
  const { machines } = useSession();
  const names = [...new Set(machines.map(({ name }) => name))];
  return [
    ...PAGES.map(({ name, to }): Choice => ({ kind: 'page', name, to })),
    { kind: 'page', name: 'Compare two runs', to: '/compare' },
    ...[...views, ...KNOWN_VIEWS].map(
      ({ name, filter }): Choice => ({
        kind: 'view',
        name: `Runs: ${name}`,
        to: `/runs?q=${encodeURIComponent(filter)}`,
      }),
    ),
    ...names.map(
      (name): Choice => ({ kind: 'machine', name, to: `/machines/${encodeURIComponent(name)}` }),
    ),
    { kind: 'do', name: 'Pause or resume live updates', act: pause },
    { kind: 'do', name: 'Light', act: () => choose({ theme: 'light' }) },
    { kind: 'do', name: 'Dark', act: () => choose({ theme: 'dark' }) },
    { kind: 'do', name: 'Colours of the system', act: () => choose({ theme: 'auto' }) },
    { kind: 'do', name: 'Keyboard help', act: onHelp },
  ];
}

const pause = () => stream.pause(stream.state !== 'paused');
