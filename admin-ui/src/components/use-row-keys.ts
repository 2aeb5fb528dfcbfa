/** j and k walk the rows of a page, by their links: Enter then does what it does on every link. */
import type { RefObject } from 'react';
import { useKeys } from './keys.ts';

export function useRowKeys(within: RefObject<HTMLElement | null>): void {
  const step = (by: 1 | -1) => {
    const links = [...(within.current?.querySelectorAll<HTMLElement>('[data-row]') ?? [])];
    const at = links.indexOf(document.activeElement as HTMLElement);
    const next = at < 0 ? (by > 0 ? 0 : links.length - 1) : at + by;
    links[Math.max(0, Math.min(links.length - 1, next))]?.focus();
  };
  useKeys({ j: () => step(1), k: () => step(-1) });
}
