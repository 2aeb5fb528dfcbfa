/**
 * Which version goes on with a run that comes from elsewhere. Its records say under which it stands;
 * where that one is not here, a newer one may have it, and what moves the run there is recorded before
 * a phase of it begins. One that nobody has begun has no line yet, so a newer version starts it.
 */
import { assert, type Json, type RunId } from '../ground/index.ts';
import type { StoredRecord } from '../journal/index.ts';
import {
  type AdvancedEvent,
  type Ending,
  forecastOf,
  type Interruption,
  originOf,
  type PastRecord,
  type Plan,
  type Registry,
  registeredFor,
  routeOf,
  type Succession,
  type SuccessionPorts,
  successionOfNew,
  type Tries,
  toldEnding,
  type Untried,
  type UpgradedEvent,
} from '../machine/index.ts';
import { tell } from '../telemetry/events.ts';
import { type CarriedOver, carriedOver } from './carried.ts';
import { tellIfChanged } from './changed-machines.ts';
import { type LiveRun, liveRunOf, ofRun } from './live-run.ts';
import type { Recorder } from './recorder.ts';

export interface HeirPorts extends SuccessionPorts {
  readonly registry: Registry;
}

/** How a run comes under another version. */
export interface Move {
  readonly event: AdvancedEvent | UpgradedEvent;
  readonly from: number;
}

export type Heir =
  /** With `move` to be recorded first, where it comes under another version. */
  | { readonly kind: 'run'; readonly run: LiveRun; readonly move?: Move | undefined }
  | { readonly kind: 'ended'; readonly ending: Ending }
  /** Nobody here goes on with it; another pod may. */
  | { readonly kind: 'blocked'; readonly reason: string }
  /** No pod that has its version could go on with these records. */
  | { readonly kind: 'unfit'; readonly reason: string };

/** What is to become of a run that comes from elsewhere: nothing is told or written yet. */
export type Fate =
  | Exclude<Succession, { readonly reason: string }>
  | Untried
  | Exclude<Heir, { readonly kind: 'run' }>;

/** At once where its version is here, as nearly always; a newer one asks its schemas. */
export function fateOf(
  ports: HeirPorts,
  records: readonly PastRecord[],
  tries: Tries = () => true,
): Fate | Promise<Fate> {
  const here = registeredFor(ports.registry, records);
  if (here) return here;
  const ending = toldEnding(records);
  if (ending) return { kind: 'ended', ending };
  return forecastOf(ports, ports.registry, records, tries) as Promise<Fate>;
}

export function heirOf(
  ports: HeirPorts,
  id: RunId,
  epoch: number,
  records: readonly StoredRecord[],
): Heir | Promise<Heir> {
  const { registry } = ports;
  const origin = originOf(records);
  const here = registry.find(origin.machine, origin.version);
  if (here) tellIfChanged(registry, here, origin);
  const fate = fateOf(ports, records);
  return fate instanceof Promise
    ? fate.then((next) => heirBy(next, id, epoch, records))
    : heirBy(fate, id, epoch, records);
}

function heirBy(next: Fate, id: RunId, epoch: number, records: readonly StoredRecord[]): Heir {
  assert(next.kind !== 'untried', 'every upgrade was to be asked');
  if ('reason' in next || 'ending' in next) return next;
  const { state, lastError } = 'folded' in next ? next.folded : { ...next, lastError: undefined };
  const run = liveRunOf(next.plan, id, epoch, state, records, lastError);
  if (!('event' in next)) return { kind: 'run', run };
  return { kind: 'run', run, move: { event: next.event, from: originOf(records).version } };
}

/** Records the move. Should this process die before it counts an interruption, that says it is due. */
export async function moveBy(
  recorder: Recorder,
  run: LiveRun,
  { event, from }: Move,
  interruption: Interruption | undefined,
): Promise<void> {
  const isOwed = event.type === 'ADVANCED' && interruption === 'cut';
  await recorder.record(run, isOwed ? { ...event, interruption } : event);
  const name = event.type === 'ADVANCED' ? 'run.advanced' : 'run.upgraded';
  tell(name, () => ({ ...ofRun(run), from, state: run.state.at }));
}

/** A run that nobody has begun, as it is begun here. */
export interface Beginning {
  readonly plan: Plan;
  readonly input: Json;
  /** What counts as finished: by an earlier generation, or as an upgrade has it. */
  readonly carried: CarriedOver | undefined;
}

interface Unbegun {
  readonly machine: string;
  readonly version: number;
  readonly input: Json;
  /** The records of an earlier generation that it goes on from. */
  readonly carried: readonly StoredRecord[] | undefined;
}

/** As a newer version begins it; or in words why none that is here can. */
export async function beginningOf(ports: HeirPorts, unbegun: Unbegun): Promise<Beginning | string> {
  const found = await forecastBeginning(ports, unbegun, () => true);
  assert(!(typeof found === 'object' && 'kind' in found), 'every upgrade was to be asked');
  return found;
}

/** The same, where not every upgrade is asked. */
export async function forecastBeginning(
  ports: HeirPorts,
  { machine, version, input, carried: records = [] }: Unbegun,
  tries: Tries,
): Promise<Beginning | Untried | string> {
  const asked = { machine, version, fingerprint: '' };
  const found = await successionOfNew(ports, ports.registry, asked, input, tries);
  if ('reason' in found) return found.reason;
  const route = routeOf(found.plan);
  const cannot = `it goes on from what version ${version} had finished, which ${route} cannot`;
  if ('kind' in found) return records.length === 0 ? found : cannot;
  const { plan, event } = found;
  const carried = event ?? carriedOver(plan, records);
  if (records.length > 0 && (event || !carried)) return cannot;
  return { plan, input: event?.input ?? input, carried };
}
