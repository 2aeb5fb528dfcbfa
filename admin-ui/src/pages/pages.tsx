/** Every page there is: where it is, what it is called, which keys lead there. One list for all who ask. */
import { type ComponentType, lazy, type ReactNode } from 'react';
import type { Listed } from '../components/frame.tsx';
import { RunsPage } from './runs/runs-page.tsx';

type OfOne = { readonly id: string };

/** Comes with the first look at it. */
function later<P>(load: () => Promise<ComponentType<P>>) {
  return lazy(() => load().then((page) => ({ default: page })));
}

const RunPage = later<OfOne>(() => import('./run/run-page.tsx').then((m) => m.RunPage));

interface Known extends Listed {
  /** All of them, and one by its id where there is such a page. */
  readonly all: ReactNode;
  readonly one?: (id: string) => ReactNode;
}

export const PAGES: readonly Known[] = [
  {
    ...{ to: '/runs', name: 'Runs', sign: 'runs', key: 'g r' },
    all: <RunsPage />,
    one: (id) => <RunPage key={id} id={id} />,
  },
];

/** What is at this address, if anything is. */
export function pageAt(path: string): ReactNode | undefined {
  if (path === '/') return pageAt('/runs');
  const [, to = '', , id] = /^(\/[^/]+)(\/([^/]*))?$/.exec(path.replace(/^\/r\//, '/runs/')) ?? [];
  const known = PAGES.find((page) => page.to === to);
  return id === undefined || id === '' ? known?.all : known?.one?.(decodeURIComponent(id));
}
