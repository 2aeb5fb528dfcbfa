/**
 * The process in which suspects run. It says which pod it is, ends when no suspect is left, and drains
 * when its parent is gone or lets go of it.
 */
import { loadModule } from './config/index.ts';
import { aesCodec, systemClock } from './ground/index.ts';
import { type Machine, machinesOf } from './machine/index.ts';
import { createFleet } from './main.ts';
import { governProcess } from './process.ts';
import type { SuspectOrders } from './suspect-process.ts';
import { listen } from './telemetry/events.ts';
import { type ThrottleDefinition, throttlesOf } from './throttle/index.ts';

const LOOK_MS = 500;
/** In vain this often, it ends: the next suspect gets a new process. */
const IDLE_LOOKS_MAX = 6;

const orders = await received();
const machines: Machine[] = [];
// Whoever ordered this has seen to it that two of one name say the same.
const throttles = new Map<string, ThrottleDefinition>();
for (const throttle of orders.throttles ?? []) throttles.set(throttle.name, throttle);
for (const file of orders.modules) {
  const module = await loadModule(file);
  machines.push(...machinesOf(module));
  for (const throttle of throttlesOf(module)) throttles.set(throttle.name, throttle);
}
// Whoever started this may have died while it was loaded, and hears nothing then.
listen('pod.registered', ({ pod }) => process.connected && process.send?.({ pod }));

const { store, dataDir, isPooled, claimMode, podName, heartbeat, silence, resultBytesMax } = orders;
const { changedMachines, poolSize, codecKeys, isSealedOnly, apis } = orders;
const fleet = await createFleet({
  machines: [...new Set(machines)],
  throttles: [...throttles.values()],
  apis,
  store,
  dataDir,
  isPooled,
  claimMode,
  poolSize,
  changedMachines,
  podName: `${podName ?? 'pod'}/suspects`,
  heartbeat,
  silence,
  resultBytesMax,
  codec: codecKeys && aesCodec(codecKeys),
  isSealedOnly,
  slots: 1,
  isSuspectsOnly: true,
  socket: false,
});
governProcess(fleet);
const end = () => fleet.drain({ budget: '10s' }).then(() => process.exit(0));
process.on('disconnect', end);
if (!process.connected) void end();

const routes = fleet.status.machines.filter((route) => !route.startsWith('recovery/'));
let idleLooks = 0;
function look(): void {
  systemClock.after(LOOK_MS, async () => {
    const isHeld = (fleet.status.pod?.held ?? 0) > 0;
    const isIdle = !isHeld && !(await fleet.store.hasSuspects(routes).catch(() => false));
    idleLooks = isIdle ? idleLooks + 1 : 0;
    if (idleLooks < IDLE_LOOKS_MAX) look();
    else await end();
  });
}
look();

/** A parent that is gone before it has sent them wants nothing of this process. */
function received(): Promise<SuspectOrders> {
  const exit = () => process.exit(0);
  if (!process.connected) exit();
  process.once('disconnect', exit);
  return new Promise((resolve) => {
    process.once('message', (orders) => {
      process.off('disconnect', exit);
      resolve(orders as SuspectOrders);
    });
  });
}
