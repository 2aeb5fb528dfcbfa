/** Where filters are typed: what could come next is offered, what is wrong is marked at its place. */
import { type KeyboardEvent, useEffect, useId, useMemo, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { suggest } from '../../../../src/query/index.ts';
import { Icon } from '../../components/icon.tsx';
import { useKeys } from '../../components/keys.ts';
import { useSession } from '../../services/session.tsx';
import { readFilter } from './filter-text.ts';

interface FilterFieldProps {
  readonly value: string;
  readonly onApply: (text: string) => void;
  readonly label?: string;
  /** What one may type, where nothing is typed. */
  readonly example?: string;
}

const EXAMPLE = 'status:failed machine:… created:<2h “text of an error”';

export function FilterField(props: FilterFieldProps) {
  const { value, onApply, label = 'Filter runs', example = EXAMPLE } = props;
  const [text, setText] = useState(value);
  const [caret, setCaret] = useState(value.length);
  const [at, setAt] = useState(-1);
  const [isOpen, setOpen] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const id = useId();
  const { machines } = useSession();
  useEffect(() => setText(value), [value]);
  useKeys({ '/': () => input.current?.focus() });
  const known = useMemo(
    () => ({ machine: [...new Set(machines.map(({ name }) => name))] }),
    [machines],
  );
  const offered = suggest(text, caret, known);
  const words = isOpen ? offered.words : [];
  const read = readFilter(text);

  const put = (next: string, position: number) => {
    // At once: what is typed next belongs behind it.
    flushSync(() => {
      setText(next);
      setCaret(position);
      setAt(-1);
    });
    input.current?.setSelectionRange(position, position);
  };
  const take = (word: string) => {
    const isField = word.endsWith(':');
    const added = isField ? word : `${word} `;
    const next = text.slice(0, offered.from) + added + text.slice(offered.until).trimStart();
    put(next, offered.from + added.length);
    setOpen(isField);
    if (!isField && readFilter(next).kind === 'filter') onApply(next.trim());
  };
  const press = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step !== 0) {
      event.preventDefault();
      setOpen(true);
      const count = offered.words.length;
      if (count > 0) setAt((before) => (before + step + count) % count);
    } else if (event.key === 'Enter') {
      event.preventDefault();
      if (words[at] !== undefined) return take(words[at]);
      setOpen(false);
      if (read.kind === 'filter') onApply(text.trim());
    } else if (event.key === 'Tab' && words[at] !== undefined) {
      event.preventDefault();
      take(words[at]);
    } else if (event.key === 'Escape') {
      if (words.length > 0) setOpen(false);
      else input.current?.blur();
    }
  };
  return (
    <search className="filter">
      <div className="filter-box" data-wrong={read.kind === 'wrong' || undefined}>
        <Icon sign="search" />
        <input
          ref={input}
          role="combobox"
          aria-label={label}
          aria-expanded={words.length > 0}
          aria-controls={`${id}-list`}
          aria-autocomplete="list"
          aria-activedescendant={words[at] === undefined ? undefined : `${id}-${at}`}
          aria-describedby={`${id}-wrong`}
          aria-invalid={read.kind === 'wrong'}
          placeholder={example}
          spellCheck={false}
          autoComplete="off"
          value={text}
          onChange={(event) => {
            setText(event.target.value);
            setCaret(event.target.selectionStart ?? event.target.value.length);
            setAt(-1);
            setOpen(true);
          }}
          onSelect={(event) => setCaret(event.currentTarget.selectionStart ?? 0)}
          onFocus={() => setOpen(true)}
          onBlur={() => setOpen(false)}
          onKeyDown={press}
        />
        {text !== '' && (
          <button
            type="button"
            className="ghost small"
            aria-label="Clear the filter"
            onClick={() => {
              put('', 0);
              onApply('');
            }}
          >
            <Icon sign="close" />
          </button>
        )}
        <kbd className="filter-key" aria-hidden="true">
          /
        </kbd>
      </div>
      <div
        id={`${id}-list`}
        role="listbox"
        aria-label="Completions"
        className="offers"
        hidden={words.length === 0}
      >
        {words.map((word, index) => (
          <div
            key={word}
            id={`${id}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === at}
            onPointerDown={(event) => {
              event.preventDefault();
              take(word);
            }}
          >
            {word}
          </div>
        ))}
      </div>
      <p id={`${id}-wrong`} className="filter-wrong" hidden={read.kind === 'filter' || isOpen}>
        {read.kind === 'wrong' && (
          <>
            {read.error.message}
            {read.error.hint && <span className="quiet"> {read.error.hint}</span>}
          </>
        )}
      </p>
    </search>
  );
}
