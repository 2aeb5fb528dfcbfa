/**
 * Handover on one host: a process that has everything ready waits for the one that holds the data
 * directory, asks it to drain, and opens the journal the moment it lets go.
 *
 *   old   executes ──────asked─▶ drains ─────▶ closes ┊
 *   new   imports, store, heart ─▶ next in line ──────┊─▶ opens, resumes
 *
 * It knows by the line between them: the old process cuts it just before it closes the journal, the
 * kernel does when it is killed. Only then is the lock asked for again and again, since a lock that is
 * asked for while its owner renews it might be had.
 */
import { Agent, request } from 'node:http';
import type { Socket } from 'node:net';
import { type Cancel, type Clock, pause } from './ground/index.ts';
import { describeHolder, JournalHeldError, placeOf, takeTurn } from './journal/index.ts';
import { tell } from './telemetry/events.ts';

export interface HandoverPorts {
  readonly dataDir: string;
  readonly clock: Clock;
  /** How long the other may take to let go. */
  readonly patienceMs: number;
}

/** Where the line was cut a moment ago, the journal is free in milliseconds. */
const SOON_MS = 1_000;
const SOON_LOOK_MS = 2;
/** Where nobody answers on the socket: a process that starts, a short command, or none. */
const LOOK_MS = 50;
const ANSWER_MS_MAX = 2_000;

/** Opens now, or as soon as whoever holds the directory has let go; one process at a time may wait. */
export async function openInTurn<T>(ports: HandoverPorts, open: () => T): Promise<T> {
  const { dataDir, clock, patienceMs } = ports;
  const first = tryTo(open);
  if ('opened' in first) return first.opened;
  const place = placeOf(dataDir);
  const letGo = takeTurn(place);
  const untilMs = clock.monotonicMs() + patienceMs;
  const agent = new Agent({ keepAlive: true });
  try {
    tell('journal.awaited', () => ({ dataDir, holder: describeHolder(place) }));
    let wasThere = false;
    for (;;) {
      const line = await askToDrain(place.socket, agent);
      if (line) await cut(line, clock, untilMs);
      const soon = !line && wasThere;
      const found = await tryFor(open, clock, soon ? SOON_MS : 0, SOON_LOOK_MS);
      if ('opened' in found) return found.opened;
      if (clock.monotonicMs() >= untilMs) throw found.held;
      wasThere = line !== undefined;
      if (!line) await pause(clock, LOOK_MS);
    }
  } finally {
    agent.destroy();
    letGo();
  }
}

type Tried<T> = { readonly opened: T } | { readonly held: JournalHeldError };

function tryTo<T>(open: () => T): Tried<T> {
  try {
    return { opened: open() };
  } catch (error) {
    if (error instanceof JournalHeldError) return { held: error };
    throw error;
  }
}

async function tryFor<T>(
  open: () => T,
  clock: Clock,
  forMs: number,
  everyMs: number,
): Promise<Tried<T>> {
  const untilMs = clock.monotonicMs() + forMs;
  for (;;) {
    const found = tryTo(open);
    if ('opened' in found || clock.monotonicMs() >= untilMs) return found;
    await pause(clock, everyMs);
  }
}

/** The line that it was asked on, while the other is there; asked again it drains no faster. */
function askToDrain(path: string, agent: Agent): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const body = '{}';
    const headers = { 'content-type': 'application/json', 'content-length': body.length };
    const options = { socketPath: path, path: '/api/v1/drain', method: 'POST', headers, agent };
    const asking = request({ ...options, timeout: ANSWER_MS_MAX });
    asking.on('response', (answer) => {
      const { socket } = answer;
      answer.resume().on('close', () => resolve(socket));
    });
    asking.on('timeout', () => asking.destroy());
    asking.on('error', () => resolve(undefined));
    asking.end(body);
  });
}

function cut(line: Socket, clock: Clock, untilMs: number): Promise<void> {
  if (line.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    let cancel: Cancel | undefined;
    const end = () => {
      cancel?.();
      line.off('close', end);
      resolve();
    };
    cancel = clock.after(Math.max(0, untilMs - clock.monotonicMs()), end);
    line.on('close', end);
  });
}
