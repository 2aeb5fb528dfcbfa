/** Keys for everything: single ones, and two in a row. Never while somebody types. */
import { useEffect, useRef } from 'react';
import { now } from '../platform/clock.ts';

export type KeyMap = Readonly<Record<string, (event: KeyboardEvent) => void>>;

const CHORD_MS = 1_000;

export function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
}

/** 'j', 'Enter', or 'g r' for two in a row. */
export function useKeys(keys: KeyMap): void {
  const current = useRef(keys);
  current.current = keys;
  useEffect(() => {
    let [first, firstAt] = ['', 0];
    const press = (event: KeyboardEvent) => {
      if (event.metaKey || event.ctrlKey || event.altKey || event.defaultPrevented) return;
      // A dialog is on top of everything else, and has keys of its own.
      if (isTyping(event.target) || document.querySelector('dialog[open]')) return;
      const chord = now() - firstAt < CHORD_MS ? `${first} ${event.key}` : '';
      const act = current.current[chord] ?? current.current[event.key];
      [first, firstAt] = [event.key, now()];
      if (!act) return;
      event.preventDefault();
      act(event);
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, []);
}
