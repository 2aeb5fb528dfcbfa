/** A fleet that this process holds, with the settings of the command line. */
import type { ListenOptions } from '../admin/index.ts';
import { type Config, codecOf, grantsOf } from '../config/index.ts';
import { createFleet, type Fleet } from '../main.ts';
import { DETAIL_VARIABLE, OTEL_VARIABLE, type Tracing, tracingOf } from '../telemetry/tracing.ts';
import type { FoundMachines } from './machines.ts';

export interface HostOptions {
  /** Takes runs in and leaves them to the next process; else they are executed and served. */
  readonly isIdle?: boolean;
  /** Joins the fleet, where a store is configured; else the journal is all there is. */
  readonly hasStore?: boolean;
  /** The files that export the machines: suspects get a process of their own by them. */
  readonly modules?: readonly string[];
  /** Answers on the address that is configured, besides its socket. */
  readonly listens?: boolean;
  /** Takes over from whoever holds the data directory, where `handover` is set. */
  readonly takesOver?: boolean;
}

export async function openFleet(
  config: Config,
  { machines, throttles }: Pick<FoundMachines, 'machines' | 'throttles'>,
  {
    isIdle = false,
    hasStore = false,
    takesOver = false,
    listens = false,
    modules,
  }: HostOptions = {},
): Promise<Fleet> {
  const { dataDir, slots, retention, auditRetention, resultBytesMax, activeRunsMax, redact } =
    config;
  return createFleet({
    machines,
    throttles,
    dataDir,
    slots,
    retention,
    auditRetention,
    resultBytesMax,
    activeRunsMax,
    codec: codecOf(config),
    isSealedOnly: config.codecRequired,
    isIdle,
    socket: !isIdle,
    tracing: (await tracingBy(config)) ?? false,
    ...(hasStore && config.store !== undefined ? storeOf(config) : {}),
    redact,
    listen: listens ? listenOf(config) : undefined,
    handover: takesOver ? config.handover : undefined,
    modules,
  });
}

/** What the config says counts as if a variable had said it. */
export function tracingBy({ otel, telemetryDetail }: Config): Promise<Tracing | undefined> {
  const said = { [OTEL_VARIABLE]: otel, [DETAIL_VARIABLE]: telemetryDetail };
  return tracingOf({ ...process.env, ...said });
}

/** Undefined where no address is configured. */
export function listenOf(config: Config): ListenOptions | undefined {
  const { listen: address, tokens, hosts, sessionSecret } = config;
  if (address === undefined) return undefined;
  const names = hosts?.split(',');
  return { address, grants: grantsOf(tokens), hosts: names, sessionSecret };
}

function storeOf(config: Config) {
  const { store, pooled, listenUrl, claimMode, podName, heartbeat, silence, archive } = config;
  const { changedMachines, readStore, poolSize } = config;
  const way = { store, readStore, isPooled: pooled, listenUrl, claimMode, poolSize };
  return { ...way, changedMachines, podName, heartbeat, silence, archive };
}
