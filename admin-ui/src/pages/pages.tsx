/** Every page there is: where it is, what it is called, which keys lead there. One list for all who ask. */
import type { ReactNode } from 'react';
import type { Listed } from '../components/frame.tsx';
import { later } from '../components/later.ts';
import { RunsPage } from './runs/runs-page.tsx';

type OfOne = { readonly id: string };

const ActivityPage = later(() =>
  import('./activity/activity-page.tsx').then((m) => m.ActivityPage),
);
const BulkPage = later<OfOne>(() => import('./bulk/bulk-page.tsx').then((m) => m.BulkPage));
const BulksPage = later(() => import('./bulk/bulks-page.tsx').then((m) => m.BulksPage));
const ComparePage = later(() => import('./compare/compare-page.tsx').then((m) => m.ComparePage));
const ErrorPage = later<OfOne>(() => import('./errors/error-page.tsx').then((m) => m.ErrorPage));
const ErrorsPage = later(() => import('./errors/errors-page.tsx').then((m) => m.ErrorsPage));
const LettersPage = later(() => import('./letters/letters-page.tsx').then((m) => m.LettersPage));
const MachinePage = later<{ readonly name: string }>(() =>
  import('./machines/machine-page.tsx').then((m) => m.MachinePage),
);
const MachinesPage = later(() =>
  import('./machines/machines-page.tsx').then((m) => m.MachinesPage),
);
const OverviewPage = later(() =>
  import('./overview/overview-page.tsx').then((m) => m.OverviewPage),
);
const PodPage = later<OfOne>(() => import('./pods/pod-page.tsx').then((m) => m.PodPage));
const PodsPage = later(() => import('./pods/pods-page.tsx').then((m) => m.PodsPage));
const QueuesPage = later(() => import('./queues/queues-page.tsx').then((m) => m.QueuesPage));
const SchedulePage = later<{ readonly name: string }>(() =>
  import('./schedules/schedule-page.tsx').then((m) => m.SchedulePage),
);
const SchedulesPage = later(() =>
  import('./schedules/schedules-page.tsx').then((m) => m.SchedulesPage),
);
const ThrottlePage = later<{ readonly api: string }>(() =>
  import('./throttles/throttle-page.tsx').then((m) => m.ThrottlePage),
);
const ThrottlesPage = later(() =>
  import('./throttles/throttles-page.tsx').then((m) => m.ThrottlesPage),
);
const RunPage = later<OfOne>(() => import('./run/run-page.tsx').then((m) => m.RunPage));

interface Known extends Listed {
  /** All of them, and one by its id where there is such a page. */
  readonly all: ReactNode;
  readonly one?: (id: string) => ReactNode;
}

export const PAGES: readonly Known[] = [
  {
    ...{ to: '/overview', name: 'Overview', sign: 'overview', key: 'g o' },
    all: <OverviewPage />,
  },
  {
    ...{ to: '/runs', name: 'Runs', sign: 'runs', key: 'g r' },
    all: <RunsPage />,
    one: (id) => <RunPage key={id} id={id} />,
  },
  {
    ...{ to: '/errors', name: 'Errors', sign: 'errors', key: 'g e' },
    all: <ErrorsPage />,
    one: (id) => <ErrorPage key={id} id={id} />,
  },
  {
    ...{ to: '/dead-letters', name: 'Dead letters', sign: 'letters', key: 'g d' },
    all: <LettersPage />,
  },
  {
    ...{ to: '/machines', name: 'Machines', sign: 'machines', key: 'g m' },
    all: <MachinesPage />,
    one: (id) => <MachinePage key={id} name={id} />,
  },
  {
    ...{ to: '/pods', name: 'Pods', sign: 'pods', key: 'g p' },
    all: <PodsPage />,
    one: (id) => <PodPage key={id} id={id} />,
  },
  {
    ...{ to: '/queues', name: 'Queues', sign: 'queues', key: 'g q' },
    all: <QueuesPage />,
  },
  {
    ...{ to: '/schedules', name: 'Schedules', sign: 'schedules', key: 'g s' },
    all: <SchedulesPage />,
    one: (id) => <SchedulePage key={id} name={id} />,
  },
  {
    ...{ to: '/throttles', name: 'Throttles', sign: 'throttles', key: 'g t' },
    all: <ThrottlesPage />,
    one: (id) => <ThrottlePage key={id} api={id} />,
  },
  {
    ...{ to: '/bulk', name: 'Bulk', sign: 'bulk', key: 'g b' },
    all: <BulksPage />,
    one: (id) => <BulkPage key={id} id={id} />,
  },
  {
    ...{ to: '/activity', name: 'Activity', sign: 'activity', key: 'g a' },
    all: <ActivityPage />,
  },
];

/** What is at this address, if anything is. */
export function pageAt(path: string): ReactNode | undefined {
  if (path === '/') return pageAt('/runs');
  // Nobody goes there but from two runs: the rail has no place for it.
  if (path === '/compare') return <ComparePage />;
  const [, to = '', , id] = /^(\/[^/]+)(\/([^/]*))?$/.exec(path.replace(/^\/r\//, '/runs/')) ?? [];
  const known = PAGES.find((page) => page.to === to);
  return id === undefined || id === '' ? known?.all : known?.one?.(decodeURIComponent(id));
}
