/**
 * Where we are: everything that a page shows is said by its address, so that it can be sent to others.
 * The base is wherever the page came from, which the server need not know.
 */
import { type AnchorHTMLAttributes, type MouseEvent, useMemo, useSyncExternalStore } from 'react';

/** Ends with a slash. Read once: a `base` that is relative would move with the address. */
export const BASE = new URL(document.baseURI).pathname;

const listeners = new Set<() => void>();
/** Lists as they were last seen: who comes back from one of its rows finds the filter again. */
const lists = new Map<string, string>();

function note(): void {
  const path = `/${location.pathname.slice(BASE.length)}`;
  const list = path === '/' ? '/runs' : path;
  if (/^\/[^/]+$/.test(list)) lists.set(list, list + location.search);
}
note();

/** The way back to a list. */
export function backTo(list: string): string {
  return lists.get(list) ?? list;
}

function tell(): void {
  note();
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  if (listeners.size === 1) addEventListener('popstate', tell);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) removeEventListener('popstate', tell);
  };
}

export function hrefOf(path: string): string {
  return BASE + path.slice(1);
}

/** Paths begin with a slash, whatever the base is. */
export function go(path: string, how: 'push' | 'replace' = 'push'): void {
  const href = hrefOf(path);
  if (how === 'push') history.pushState(null, '', href);
  else history.replaceState(null, '', href);
  tell();
}

export interface Place {
  readonly path: string;
  readonly query: URLSearchParams;
}

export function usePlace(): Place {
  const href = useSyncExternalStore(subscribe, () => location.href);
  return useMemo(() => {
    const { pathname, searchParams } = new URL(href);
    return { path: `/${pathname.slice(BASE.length)}`, query: searchParams };
  }, [href]);
}

/** The same page with another query; what is undefined is taken out. */
export function withQuery(
  { path, query }: Place,
  changes: Readonly<Record<string, string | undefined>>,
): string {
  const next = new URLSearchParams(query);
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || value === '') next.delete(name);
    else next.set(name, value);
  }
  const text = next.toString();
  return text === '' ? path : `${path}?${text}`;
}

type LinkProps = AnchorHTMLAttributes<HTMLAnchorElement> & { readonly to: string };

/** A real link: it can be opened beside, copied, and followed without a reload. */
export function Link({ to, onClick, ...rest }: LinkProps) {
  const follow = (event: MouseEvent<HTMLAnchorElement>) => {
    onClick?.(event);
    const isPlain = event.button === 0 && !(event.metaKey || event.ctrlKey || event.shiftKey);
    if (event.defaultPrevented || !isPlain) return;
    event.preventDefault();
    go(to);
    scrollTo(0, 0);
  };
  return <a href={hrefOf(to)} onClick={follow} {...rest} />;
}
