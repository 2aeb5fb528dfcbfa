/**
 * Which version goes on with a run that comes from elsewhere. Its records say under which it stands;
 * where that one is not here, a newer one may have it, and what moves the run there is recorded before
 * a phase of it begins. One that nobody has begun has no line yet, so a newer version starts it.
 */
import type { Json, RunId } from '../ground/index.ts';
import type { StoredRecord } from '../journal/index.ts';
import {
  type AdvancedEvent,
  type Ending,
  type Interruption,
  originOf,
  type Plan,
  type Registry,
  registeredFor,
  routeOf,
  type Succession,
  type SuccessionPorts,
  successionOf,
  successionOfNew,
  toldEnding,
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

/** At once where its version is here, as nearly always; a newer one asks its schemas. */
export function heirOf(
  ports: HeirPorts,
  id: RunId,
  epoch: number,
  records: readonly StoredRecord[],
): Heir | Promise<Heir> {
  const { registry } = ports;
  const here = registeredFor(registry, records);
  if (!here) {
    const ending = toldEnding(records);
    if (ending) return { kind: 'ended', ending };
    return successionOf(ports, registry, records).then((next) => heirBy(next, id, epoch, records));
  }
  const origin = originOf(records);
  tellIfChanged(registry, registry.find(origin.machine, origin.version)!, origin);
  // Whoever has its version would be given it again and again: a person has to look at it.
  if ('reason' in here) return { kind: 'unfit', reason: here.reason };
  return heirBy(here, id, epoch, records);
}

function heirBy(
  next: Succession,
  id: RunId,
  epoch: number,
  records: readonly StoredRecord[],
): Heir {
  if ('reason' in next) return { kind: 'blocked', reason: next.reason };
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
export async function beginningOf(
  ports: HeirPorts,
  { machine, version, input, carried: records = [] }: Unbegun,
): Promise<Beginning | string> {
  const asked = { machine, version, fingerprint: '' };
  const found = await successionOfNew(ports, ports.registry, asked, input);
  if ('reason' in found) return found.reason;
  const { plan, event } = found;
  const carried = event ?? carriedOver(plan, records);
  if (records.length > 0 && (event || !carried)) {
    return `it goes on from what version ${version} had finished, which ${routeOf(plan)} cannot`;
  }
  return { plan, input: event?.input ?? input, carried };
}
