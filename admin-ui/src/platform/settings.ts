/** What a person has chosen, kept by the browser where it keeps anything. */
import { useSyncExternalStore } from 'react';
import type { Times } from '../format/time.ts';
import type { View } from '../format/view.ts';
import { zoneNamed } from './zones.ts';

export type Theme = 'auto' | 'light' | 'dark';

export interface Settings {
  readonly theme: Theme;
  readonly times: Times;
  readonly views: readonly View[];
}

export const VIEWS_MAX = 20;
export const NAME_LENGTH_MAX = 40;

const KEY = 'fleetq.settings';
const OTHERWISE: Settings = { theme: 'auto', times: 'relative', views: [] };
const THEMES: readonly string[] = ['auto', 'light', 'dark'];
const TIMES: readonly string[] = ['relative', 'local', 'utc'];

let current = read();
const listeners = new Set<() => void>();

/** Of another version, another tool or nobody: what does not fit is left out. */
function read(): Settings {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY) ?? '{}') as Partial<Settings>;
    const { theme, times, views } = kept;
    return {
      theme: THEMES.includes(theme ?? '') ? theme! : OTHERWISE.theme,
      times: isTimes(times) ? times : OTHERWISE.times,
      views: Array.isArray(views) ? views.filter(isView).slice(0, VIEWS_MAX) : [],
    };
  } catch {
    return OTHERWISE;
  }
}

function isTimes(times: unknown): times is Times {
  return typeof times === 'string' && (TIMES.includes(times) || zoneNamed(times) !== undefined);
}

function isView(view: unknown): view is View {
  const { name, filter } = Object(view) as View;
  return typeof name === 'string' && typeof filter === 'string' && name !== '';
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
