/** Filters that everybody has a use for. */
import type { View } from '../../format/view.ts';

const view = (name: string, filter: string): View => ({ name, filter });

export const KNOWN_VIEWS: readonly View[] = [
  view('All', ''),
  view('Unfinished', 'is:unfinished'),
  view('Running', 'status:claimed,active'),
  view('Retrying', 'wait:retry'),
  view('Stuck', 'status:claimed,active updated:>10m'),
  view('Overdue', 'status:pending due:>1m'),
  view('Orphaned', 'is:unfinished crashes:>=1'),
  view('Blocked', 'is:blocked'),
  view('Failed', 'status:failed'),
];
