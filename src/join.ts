/** What makes a process a member of a fleet: a store, the recovery machines, a pod. */
import { hostname } from 'node:os';
import type { Base, FleetOptions, Parts } from './assemble.ts';
import { DEFAULTS, durationOption, version } from './config/index.ts';
import {
  announceMachines,
  type Bulks,
  bulksOf,
  checkTimes,
  inlineHeart,
  Member,
  type PodTimes,
  type Recovery,
  recoveryOf,
  type ScheduleDefinition,
  SpareThread,
  SqliteDeadLetters,
  type SuspectProcess,
  threadHeart,
  timedStore,
} from './fleet/index.ts';
import { codecKeysOf, FleetqError, identityCodec, systemPressure } from './ground/index.ts';
import { placeOf } from './journal/index.ts';
import type { Machine, Registry } from './machine/index.ts';
import { openControls, openStore, ScheduleError, type Store, sealedStore } from './store/index.ts';
import { type SuspectOrders, suspectProcess } from './suspect-process.ts';

/** Records that may wait for the archive; beyond it nothing is claimed. */
const UNFLUSHED_MAX = 50_000;

export interface Joining {
  /** The machines by which a fleet recovers. */
  readonly machines: readonly Machine[];
  join(
    parts: Pick<Parts, 'engine' | 'journal' | 'registry'>,
    ports: { readonly onDrainWanted: () => void },
  ): Member;
  /**
   * What a pod needs before it can take its place, while that is still another's: refused machines and
   * tables that do not fit are found out, its heart is ready to beat. A store that is away is let be.
   */
  warmUp(registry: Registry): Promise<void>;
  /** It came to nothing: the store is let go of. */
  abandon(): Promise<void>;
}

export async function prepare(options: FleetOptions, base: Base): Promise<Joining> {
  const { clock, random, slots, resultBytesMax } = base;
  const opened = await storeOf(options, base);
  const { codec = identityCodec, isSealedOnly: isRequired } = options;
  const store = timedStore(sealedStore(opened, codec, { isRequired }), clock);
  let member: Member | undefined;
  try {
    const times = timesOf(options, store);
    const deadLetters = new SqliteDeadLetters(placeOf(base.dataDir).deadLetters, opened);
    const recovery = recoveryOf({
      store,
      clock,
      silentMs: times.silentMs,
      retentionMs: base.retentionMs,
      auditMs: base.auditMs,
      life: () => member?.pod.life,
      deadLetters,
    });
    const bulks = bulksOf({ store, clock, random, life: () => member?.pod.life });
    const spare = new SpareThread();
    // It speaks to the store by a way of its own, which knows nothing of the codec.
    const makeHeart = hasThread(options, store)
      ? threadHeart(options.store, options.isPooled ?? false, spare)
      : inlineHeart(opened);
    const changedMachines = options.changedMachines ?? 'refuse';
    let isWarm = false;
    return {
      machines: [...(await recoveryMachines(recovery)), ...(await fleetMachines(bulks))],
      warmUp: async (registry) => {
        if (options.isClient) return;
        isWarm = await fits(store, () => announceMachines({ store, registry, changedMachines }));
        if (!hasThread(options, store)) return;
        const { heartbeatMs, silentMs } = times;
        const isPooled = options.isPooled ?? false;
        await spare.start({ url: options.store, isPooled, heartbeatMs, silentMs });
      },
      abandon: async () => {
        await spare.stop();
        await store.close().catch(() => undefined);
      },
      join: (parts, { onDrainWanted }) => {
        member = new Member({
          ...parts,
          store,
          clock,
          random,
          deadLetters,
          recovery,
          retentionMs: base.retentionMs,
          makeHeart: (heart) =>
            makeHeart({
              ...heart,
              onHeard: (heard) =>
                heart.onHeard({ ...heard, answer: openControls(codec, heard.answer) }),
            }),
          pressure: systemPressure(),
          name: options.podName ?? hostname(),
          version: version(),
          times,
          limits: { slots, unflushedMax: UNFLUSHED_MAX, payloadBytesMax: resultBytesMax },
          changedMachines,
          isWarm: () => {
            const was = isWarm;
            isWarm = false;
            return was;
          },
          isSuspectsOnly: options.isSuspectsOnly ?? false,
          throttles: base.throttles,
          beginSuspects: beginSuspects(options, base),
          onDrainWanted,
          schedules: schedulesOf(options),
          keyMs: base.retentionMs,
        });
        return member;
      },
    };
  } catch (error) {
    await store.close().catch(() => undefined);
    throw error;
  }
}

/** A machine that this program does not have would tick nowhere but on others' pods. */
function schedulesOf({ schedules = [], machines }: FleetOptions): readonly ScheduleDefinition[] {
  const names = new Set(machines.map(({ name }) => name));
  for (const { name, plan } of schedules) {
    if (names.has(plan.machine)) continue;
    throw new ScheduleError(
      `the schedule ${name} is of ${plan.machine}, which is not in machines`,
      {
        hint: 'give createFleet that machine too',
      },
    );
  }
  return schedules;
}

/** Refuses what would be refused later; a store that is away says nothing of that. */
async function fits(store: Store, announce: () => Promise<void>): Promise<boolean> {
  try {
    await store.checkSchema();
    await announce();
    return true;
  } catch (error) {
    if (!(error instanceof FleetqError) || error.verdict !== 'retry') throw error;
    return false;
  }
}

function beginSuspects(options: FleetOptions, base: Base): (() => SuspectProcess) | undefined {
  const orders = suspectOrders(options, base);
  return orders && suspectProcess(orders);
}

/**
 * What a process for suspects is told: all that decides how its pod speaks to the store. Undefined
 * where there can be none: only a program whose machines are in files can start another that has them.
 */
export function suspectOrders(
  options: FleetOptions,
  { dataDir, resultBytesMax }: Pick<Base, 'dataDir' | 'resultBytesMax'>,
): SuspectOrders | undefined {
  const { store, modules, isPooled, claimMode, poolSize, podName, changedMachines } = options;
  const { heartbeat, silence } = options;
  if (typeof store !== 'string' || modules === undefined) return undefined;
  const { codec, isSealedOnly } = options;
  const codecKeys = codec && codecKeysOf(codec);
  // A codec of somebody's own cannot be told to another process, which would write in plain text.
  if (codec && codec !== identityCodec && !codecKeys) return undefined;
  const way = { store, isPooled, claimMode, poolSize, heartbeat, silence };
  const { throttles, apis } = options;
  const rest = { dataDir, podName, resultBytesMax, changedMachines, throttles, apis };
  return { ...way, ...rest, modules, codecKeys, isSealedOnly };
}

/** A thread opens the store by its address; tables in memory are in no other thread. */
function hasThread(
  options: FleetOptions,
  store: Store,
): options is FleetOptions & { readonly store: string } {
  return typeof options.store === 'string' && store.capabilities.kind !== 'memory';
}

async function storeOf(options: FleetOptions, { clock, random }: Base): Promise<Store> {
  const { store, migrates, isPooled, claimMode, poolSize, listenUrl } = options;
  if (typeof store === 'object') return store;
  const way = { isPooled, claimMode, poolSize, listenUrl };
  return openStore(store ?? '', { clock, random, migrates, ...way });
}

function timesOf(options: FleetOptions, store: Store): PodTimes {
  const { heartbeatMs, silentMs, idlePollMs } = store.capabilities;
  const times = {
    heartbeatMs: durationOption('heartbeat', options.heartbeat ?? heartbeatMs),
    silentMs: durationOption('silence', options.silence ?? silentMs),
    archiveMs: durationOption('archive', options.archive ?? DEFAULTS.archive),
    idlePollMs,
  };
  checkTimes(times);
  return times;
}

/** They use the public API only, so they are loaded as any machine is. */
async function recoveryMachines(recovery: Recovery): Promise<readonly Machine[]> {
  const made = await loadOwn<{
    readonly recoveryMachines: (recovery: Recovery) => readonly Machine[];
  }>('recovery');
  return made.recoveryMachines(recovery);
}

async function fleetMachines(bulks: Bulks): Promise<readonly Machine[]> {
  const made = await loadOwn<{ readonly fleetMachines: (bulks: Bulks) => readonly Machine[] }>(
    'fleet',
  );
  return made.fleetMachines(bulks);
}

async function loadOwn<Module>(room: 'recovery' | 'fleet'): Promise<Module> {
  const isSource = import.meta.url.endsWith('.ts');
  const path = isSource ? `../machines/${room}/index.ts` : `./machines/${room}/index.js`;
  return (await import(new URL(path, import.meta.url).href)) as Module;
}
