/**
 * fleetq drain [pod] [--wait]: asks a pod to leave as on SIGTERM. The store is asked, which reaches it
 * anywhere by its next heartbeat; its socket too where it runs here, which spares it that wait. Without
 * a pod it is the process that holds the data directory, and no store is needed.
 */
import { type Config, nearest } from '../../config/index.ts';
import { pause, show, showDuration, systemClock } from '../../ground/index.ts';
import { describeHolder, placeOf } from '../../journal/index.ts';
import type { PodRow, Store } from '../../store/index.ts';
import type { Execute, Options } from '../command.ts';
import { PodGoneError, PodNotFoundError, UnreachableError, UsageError } from '../errors.ts';
import { Exit, type ExitCode } from '../exit.ts';
import { readWait } from '../input.ts';
import type { Output } from '../output.ts';
import { isCutOff, isNobody, SocketClient } from '../socket-client.ts';
import { thisPodHere } from './local-pods.ts';
import { withStore } from './open.ts';
import { isResting } from './pods.ts';

const LOOK_MS = 250;

/** What the command has to tell of a pod, at whatever point it ends. */
interface Told {
  readonly pod: string;
  readonly name: string;
  readonly status: PodRow['status'];
  readonly claimCount: number;
  /** Asked by this call; false where it was draining already, or nothing was to be changed. */
  readonly isAsked: boolean;
  readonly elapsedMs: number;
}

export const drain: Execute = async ({ config, output }, options, word) => {
  const timeoutMs = readWait(options);
  if (word === undefined) return drainHere(config, output, options);
  return withStore(config, async (store) => {
    const begunMs = systemClock.monotonicMs();
    const row = podOf(await store.pods(), word);
    const tell = (of: PodRow, isAsked: boolean) =>
      tellPod(output, of, isAsked, systemClock.monotonicMs() - begunMs);
    if (options['dryRun'] === true) {
      tell(row, false);
      output.note('nothing was changed');
      return Exit.ok;
    }
    const isAsked = row.status === 'up' && (await store.requestDrain(row.pod));
    if (isAsked) await askHere(config, row.pod);
    output.note(beginning(row, isAsked));
    if (options['wait'] !== true) {
      tell(await rowOf(store, row), isAsked);
      return Exit.ok;
    }
    const last = await untilDown(store, row, begunMs + timeoutMs, output);
    tell(last, isAsked);
    return verdictOf(last, output, systemClock.monotonicMs() - begunMs);
  });
};

/** The one that is meant: by its id, or by a name that no other pod that is up has. */
export function podOf(rows: readonly PodRow[], word: string): PodRow {
  const isLive = ({ status }: PodRow) => status === 'up' || status === 'draining';
  const named = rows.filter(({ pod, name }) => pod === word || name === word);
  // One that has taken over the name of another that is still draining is the one that is meant.
  const up = named.filter(({ status }) => status === 'up');
  const live = up.length > 0 ? up : named.filter(isLive);
  if (live.length > 1) {
    throw new UsageError(`${live.length} pods are called ${show(word)}`, {
      hint: `name one by its id: ${live.map(({ pod }) => pod).join(', ')}`,
    });
  }
  if (live[0]) return live[0];
  const last = named.at(-1);
  if (last && isResting(last)) {
    throw new PodGoneError(`the pod ${last.pod} (${last.name}) rests, and hears nobody`, {
      hint: 'it holds nothing, and comes back when there is work: end its process with SIGTERM',
    });
  }
  if (last) {
    throw new PodGoneError(`the pod ${last.pod} (${last.name}) is ${last.status}`, {
      hint:
        last.status === 'dead'
          ? 'what it left is given back by the leader, or by: fleetq sweep'
          : 'nothing of it is left: there is nothing to do',
    });
  }
  const known = rows.filter(isLive).map(({ name }) => name);
  const near = nearest(word, known);
  throw new PodNotFoundError(`there is no pod called ${show(word)}`, {
    hint: near === undefined ? 'list pods with: fleetq pods' : `did you mean ${near}?`,
  });
}

function beginning({ pod, name, status, claimCount, ...row }: PodRow, isAsked: boolean): string {
  const who = `${name} (${pod})`;
  if (!isAsked) return `${who} ${status === 'draining' ? 'is draining' : 'has gone'} already`;
  const isSilent = row.silenceMs !== undefined && row.silentMs >= row.silenceMs;
  const tasks = claimCount === 1 ? '1 task' : `${claimCount} tasks`;
  const doubt = isSilent ? `; it has said nothing for ${showDuration(row.silentMs)}` : '';
  return `${who} is asked to drain, with ${tasks} in hand${doubt}`;
}

/** A pod of this host need not wait for its next heartbeat to know. */
async function askHere({ dataDir }: Config, pod: string): Promise<void> {
  const client = await thisPodHere(dataDir, pod);
  // The store has its answer already, so that this may fail.
  await client?.drain().catch(() => undefined);
  client?.close();
}

async function rowOf(store: Store, { pod }: PodRow): Promise<PodRow> {
  const found = (await store.pods()).find((row) => row.pod === pod);
  if (found) return found;
  throw new PodGoneError(`the pod ${pod} is no longer known`, {
    hint: 'it was down for so long that retention has removed it',
  });
}

async function untilDown(
  store: Store,
  asked: PodRow,
  untilMs: number,
  output: Output,
): Promise<PodRow> {
  let said = '';
  for (;;) {
    const row = await rowOf(store, asked);
    if (row.status === 'down' || systemClock.monotonicMs() >= untilMs) return row;
    const text = `${row.status}, ${row.claimCount} in hand`;
    if (text !== said) output.note(`  ${text}`);
    said = text;
    await pause(systemClock, LOOK_MS);
  }
}

function verdictOf(row: PodRow, output: Output, elapsedMs: number): ExitCode {
  const { pod, name, status, deadBy } = row;
  const took = showDuration(elapsedMs);
  if (status !== 'down') {
    output.note(`${name} (${pod}) is ${status} after ${took}, and goes on`);
    return Exit.timedOut;
  }
  if (deadBy !== pod) {
    output.note(`${name} (${pod}) was taken for dead before it had drained; others have its tasks`);
    return Exit.failure;
  }
  output.note(`${name} (${pod}) is down after ${took}: nothing is left with it`);
  return Exit.ok;
}

function tellPod(output: Output, row: PodRow, isAsked: boolean, elapsedMs: number): void {
  const { pod, name, status, claimCount } = row;
  const told: Told = { pod, name, status, claimCount, isAsked, elapsedMs: Math.round(elapsedMs) };
  if (output.isJson) output.json(told);
  else output.line([pod, name, status, claimCount].join('\t'));
}

/** The process that holds the data directory, whether there is a store or not. */
async function drainHere({ dataDir }: Config, output: Output, options: Options): Promise<ExitCode> {
  const place = placeOf(dataDir);
  const untilMs = systemClock.monotonicMs() + readWait(options);
  const client = new SocketClient(place.socket);
  try {
    const { pid } = await client.status();
    const isDry = options['dryRun'] === true;
    if (!isDry) await client.drain();
    output.note(`process ${pid} ${isDry ? 'would be' : 'is'} asked to drain`);
    const isGone = options['wait'] === true && !isDry && (await untilGone(client, pid, untilMs));
    if (output.isJson) output.json({ pid, isAsked: !isDry, isGone });
    if (options['wait'] !== true || isDry) return Exit.ok;
    output.note(`process ${pid} ${isGone ? 'is gone' : 'has not ended yet, and goes on'}`);
    return isGone ? Exit.ok : Exit.timedOut;
  } catch (error) {
    if (!isNobody(error)) throw error;
    throw new UnreachableError(`no process answers for ${place.directory}`, {
      cause: error,
      hint: `the last one there was ${describeHolder(place)}; name another with --data-dir`,
    });
  } finally {
    client.close();
  }
}

/** Also where another process has taken its place meanwhile. */
async function untilGone(client: SocketClient, pid: unknown, untilMs: number): Promise<boolean> {
  for (;;) {
    // Cut off in the middle of its answer it may only be about to end: the next look tells.
    const status = await client.status().catch((error) => {
      if (isNobody(error)) return undefined;
      if (isCutOff(error)) return { pid };
      throw error;
    });
    if (status?.['pid'] !== pid) return true;
    if (systemClock.monotonicMs() >= untilMs) return false;
    await pause(systemClock, LOOK_MS);
  }
}
