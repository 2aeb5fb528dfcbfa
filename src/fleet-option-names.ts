/** What `createFleet` may be told, by name: a mistyped option would otherwise change nothing, quietly. */
import type { FleetOptions } from './assemble.ts';
import { namesOf, refuseUnknownOptions } from './config/known-options.ts';
import { show } from './ground/index.ts';

const FLEET_NAMES = namesOf<FleetOptions>({
  machines: true,
  dataDir: true,
  schedules: true,
  store: true,
  migrates: true,
  isPooled: true,
  listenUrl: true,
  readStore: true,
  claimMode: true,
  poolSize: true,
  changedMachines: true,
  podName: true,
  heartbeat: true,
  silence: true,
  archive: true,
  isClient: true,
  modules: true,
  isSuspectsOnly: true,
  slots: true,
  retention: true,
  auditRetention: true,
  resultBytesMax: true,
  activeRunsMax: true,
  apis: true,
  throttles: true,
  around: true,
  tracing: true,
  codec: true,
  isSealedOnly: true,
  isIdle: true,
  socket: true,
  listen: true,
  redact: true,
  handover: true,
  onDrainWanted: true,
  clock: true,
  random: true,
});

export function refuseUnknownFleetOptions(options: FleetOptions): void {
  refuseUnknownOptions(options, FLEET_NAMES, 'createFleet');
}

/** Looked at before anything begins: it answers only when its runs are under way again. */
export function refuseOddListen(listen: unknown): void {
  if (listen === undefined) return;
  const { address } = Object(listen) as { readonly address?: unknown };
  if (typeof address === 'string' && /:\d+$/.test(address)) return;
  const got = Object(listen) === listen ? `the address ${show(address)}` : show(listen);
  throw new TypeError(`listen must be as { address: '127.0.0.1:7433' }, got ${got}`);
}
