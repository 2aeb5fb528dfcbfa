/** What a person has chosen, kept by the browser where it keeps anything. */
import { useSyncExternalStore } from 'react';
import type { Times } from '../format/time.ts';

export type Theme = 'auto' | 'light' | 'dark';

export interface Settings {
  readonly theme: Theme;
  readonly times: Times;
}

const KEY = 'fleetq.settings';
const OTHERWISE: Settings = { theme: 'auto', times: 'relative' };
const THEMES: readonly string[] = ['auto', 'light', 'dark'];
const TIMES: readonly string[] = ['relative', 'local', 'utc'];

let current = read();
const listeners = new Set<() => void>();

/** Of another version, another tool or nobody: what does not fit is left out. */
function read(): Settings {
  try {
    const { theme, times } = JSON.parse(localStorage.getItem(KEY) ?? '{}') as Partial<Settings>;
    return {
      theme: THEMES.includes(theme ?? '') ? theme! : OTHERWISE.theme,
      times: TIMES.includes(times ?? '') ? times! : OTHERWISE.times,
    };
  } catch {
    return OTHERWISE;
  }
}

export function applyTheme(): void {
  document.documentElement.dataset['theme'] = current.theme;
}

export function choose(part: Partial<Settings>): void {
  current = { ...current, ...part };
  applyTheme();
  try {
    localStorage.setItem(KEY, JSON.stringify(current));
  } catch {
    // Without storage it holds for as long as the page does.
  }
  for (const listener of listeners) listener();
}

export function useSettings(): Settings {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => current,
  );
}
