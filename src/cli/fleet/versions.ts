/**
 * fleetq machines [--all] [--json]: the versions that are live in the fleet, with the pods that have each
 * and the runs that stand under it. Without a store: the machines of this project.
 */
import { blockedCount, LiveRoutes, whyBlocked } from '../../fleet/index.ts';
import { isOwnMachine, type RouteTally, type Store } from '../../store/index.ts';
import type { Context, Execute } from '../command.ts';
import { Exit, type ExitCode } from '../exit.ts';
import { loadMachines } from '../machines.ts';
import { type Column, plain } from '../table.ts';
import { withStore } from './open.ts';

interface VersionView {
  readonly machine: string;
  readonly version: number;
  /** How many pods that are up have it. */
  readonly pods: number;
  readonly pending: number;
  readonly waiting: number;
  readonly claimed: number;
  /** Of the pending and waiting ones: nobody who is up can go on with them. */
  readonly blocked: number;
  readonly why?: string | undefined;
  readonly firstSeenAt?: number | undefined;
}

export const machines: Execute = async (context, options) => {
  const { config, output } = context;
  if (config.store === undefined) return machinesHere(context);
  const all = await withStore(config, versionsOf);
  const isLive = (view: VersionView) =>
    view.pods + view.pending + view.waiting + view.claimed > 0 || options['all'] === true;
  const found = all.filter(isLive);
  if (output.isJson) output.json({ machines: found });
  else if (found.length > 0) output.table(found, columns());
  else output.note('no machine is live: no pod is up, and no run is in flight');
  return found.length > 0 ? Exit.ok : Exit.nothingFound;
};

/** By name, the newest version first. */
async function versionsOf(store: Store): Promise<VersionView[]> {
  const live = new LiveRoutes(await store.pods());
  const known = new Map((await store.known()).map((route) => [route.route, route.firstSeenAt]));
  const tallies = new Map((await store.inFlight()).map((tally) => [tally.route, tally]));
  const routes = new Set([...known.keys(), ...tallies.keys(), ...live.routes]);
  return [...routes]
    .filter((route) => !isOwnMachine(route))
    .map((route) => viewOf(live, tallies.get(route) ?? nothingOf(route), known.get(route)))
    .sort((a, b) =>
      a.machine < b.machine ? -1 : a.machine > b.machine ? 1 : b.version - a.version,
    );
}

function viewOf(live: LiveRoutes, tally: RouteTally, firstSeenAt: number | undefined): VersionView {
  const { machine, version, pending, waiting, claimed } = tally;
  const blocked = blockedCount(live, tally);
  const why = blocked > 0 ? whyBlocked(live, tally) : undefined;
  const pods = live.podCount(tally.route);
  return { machine, version, pods, pending, waiting, claimed, blocked, why, firstSeenAt };
}

function nothingOf(route: string): RouteTally {
  const at = route.lastIndexOf('@');
  const [machine, version] = [route.slice(0, at), Number(route.slice(at + 1))];
  const none = { pending: 0, waiting: 0, claimed: 0, pinned: 0, shelved: 0, suspect: 0 };
  return { route, machine, version, ...none };
}

function columns(): Column<VersionView>[] {
  const count = (head: string, of: (view: VersionView) => number): Column<VersionView> => ({
    head,
    text: (view) => `${of(view)}`,
    align: 'right',
  });
  return [
    { head: 'MACHINE', text: ({ machine, version }) => `${machine}@${version}` },
    count('PODS', ({ pods }) => pods),
    count('PENDING', ({ pending }) => pending),
    count('WAITING', ({ waiting }) => waiting),
    count('CLAIMED', ({ claimed }) => claimed),
    {
      ...count('BLOCKED', ({ blocked }) => blocked),
      style: ({ blocked }) => (blocked > 0 ? 'red' : undefined),
    },
    { head: 'WHY', text: ({ why }) => plain(why ?? ''), isElastic: true },
  ];
}

async function machinesHere({ config, output }: Context): Promise<ExitCode> {
  const { machines: found, files } = await loadMachines(config, config.cwd);
  const views = found.map(({ name, version, fingerprint }) => {
    return { machine: name, version, fingerprint, file: files.get(`${name}@${version}`) ?? '' };
  });
  if (output.isJson) output.json({ machines: views });
  else if (views.length > 0) {
    output.table(views, [
      { head: 'MACHINE', text: ({ machine, version }) => `${machine}@${version}` },
      { head: 'FINGERPRINT', text: ({ fingerprint }) => fingerprint },
      { head: 'FILE', text: ({ file }) => file, isElastic: true },
    ]);
  }
  return views.length > 0 ? Exit.ok : Exit.nothingFound;
}
