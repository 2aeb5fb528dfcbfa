/** What doctor says of sinks: who sends, how far it has come, and that retention waits for it. */
import type { Config } from '../../config/index.ts';
import { showDuration } from '../../ground/index.ts';
import { openSinkSource } from '../../store/sink/open-sink.ts';
import type { KnownSink } from '../../store/sink/sink.ts';
import type { Check } from '../doctor-checks.ts';
import { storeAddress, storeOptions } from './open.ts';

/** Retention is days; whoever is an hour behind has something in its way. */
const BEHIND_MS_MAX = 3_600_000;

export async function sinkChecks(config: Config): Promise<Check[]> {
  const address = storeAddress(config);
  if (!/^(postgres|sqlite)/i.test(address)) return [];
  const source = await openSinkSource(address, storeOptions(config));
  try {
    return (await source.sinks()).map(checkOf);
  } finally {
    await source.close();
  }
}

function checkOf({ name, target, isHeld, behindMs }: KnownSink): Check {
  const behind =
    behindMs === null ? 'its first round is not over' : `${showDuration(behindMs)} behind`;
  const fact = `${target}, ${behind}, ${isHeld ? 'sent by a process' : 'nobody sends'}`;
  const isWell = isHeld && (behindMs === null || behindMs <= BEHIND_MS_MAX);
  if (isWell) return { name: `sink ${name}`, verdict: 'ok', fact };
  const fix = isHeld
    ? 'look at what fleetq sink says; retention keeps what it has not sent'
    : `start fleetq sink, or let retention go on: fleetq sink --name ${name} --forget`;
  return { name: `sink ${name}`, verdict: 'warn', fact, fix };
}
