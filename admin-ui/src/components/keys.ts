/** Keys for everything: single ones, and two in a row. Never while somebody types. */
import { useLayoutEffect, useRef } from 'react';
import { now } from '../platform/clock.ts';

export type KeyMap = Readonly<Record<string, (event: KeyboardEvent) => void>>;

const CHORD_MS = 1_000;
/** Whoever came last is asked first. */
const maps: { readonly current: KeyMap }[] = [];
let [first, firstAt] = ['', 0];

export function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  const isField = /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
  // A box that is ticked takes no letters.
  const isBox = target instanceof HTMLInputElement && /^(checkbox|radio)$/.test(target.type);
  return target.isContentEditable || (isField && !isBox);
}

/** Two in a row mean what they mean together, whoever else has a use for the second. */
function actOf(key: string, chord: string): KeyMap[string] | undefined {
  for (const sign of [chord, key]) {
    const map = maps.find(({ current }) => Object.hasOwn(current, sign));
    if (map) return map.current[sign];
  }
  return undefined;
}

function press(event: KeyboardEvent): void {
  if (event.altKey || event.defaultPrevented) return;
  // A dialog is on top of everything else, and has keys of its own.
  if (document.querySelector('dialog[open]')) return;
  const act = event.metaKey || event.ctrlKey ? actWithMod(event) : plainAct(event);
  if (!act) return;
  event.preventDefault();
  act(event);
}

/** Held with Ctrl or ⌘ it is no letter: it is heard while somebody types, too. */
function actWithMod({ key }: KeyboardEvent): KeyMap[string] | undefined {
  return actOf(`Mod ${key.toLowerCase()}`, '');
}

function plainAct({ key, target }: KeyboardEvent): KeyMap[string] | undefined {
  if (isTyping(target)) return undefined;
  const act = actOf(key, now() - firstAt < CHORD_MS ? `${first} ${key}` : '');
  [first, firstAt] = [key, now()];
  return act;
}

/** 'j', 'Enter', 'g r' for two in a row, 'Mod k' with Ctrl or ⌘. */
export function useKeys(keys: KeyMap): void {
  const current = useRef(keys);
  current.current = keys;
  // With what is shown, and not a moment later: a key that is pressed at once is heard.
  useLayoutEffect(() => {
    maps.unshift(current);
    if (maps.length === 1) addEventListener('keydown', press);
    return () => {
      maps.splice(maps.indexOf(current), 1);
      if (maps.length === 0) removeEventListener('keydown', press);
    };
  }, []);
}
