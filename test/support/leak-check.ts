/**
 * Unit test files share their process. After each file this looks whether the next one finds the process as
 * this one found it, and names what differs:
 *
 *   - the directory, the exit code, the environment, listeners of the process, subscribers of our channels;
 *   - the GLOBALS that tests like to replace;
 *   - open servers, sockets, child processes, ports and watchers of files; running worker threads;
 *   - timers that keep a process alive and that were set by the global setTimeout or setInterval.
 *
 * It does not notice: timers of `node:timers/promises`, those that are unref'd, other replaced functions,
 * changed state of modules (all files share those, too), open files and databases, and promises that never
 * settle. vitest itself fails a run for a rejection that no code handles.
 */
import { Channel } from 'node:diagnostics_channel';
import { setImmediate } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import { afterAll, vi } from 'vitest';

const PATIENCE_MS = Number(process.env['FLEETQ_LEAK_PATIENCE_MS'] ?? 10_000);
/** Handles by which one file can disturb another; what only holds memory is left to the collector. */
const HANDLES = [
  'FSEventWrap',
  'MessagePort',
  'PipeServerWrap',
  'ProcessWrap',
  'StatWatcher',
  'TCPServerWrap',
  'TCPSocketWrap',
];

/** What Node has no list of: noted from the first file of a process on. */
interface Noted {
  /** The product's channels that were ever subscribed to. */
  readonly channels: Set<Channel>;
  readonly workers: Set<Worker>;
  /** Those that the file has set. */
  readonly timers: Set<NodeJS.Timeout>;
}
const shared = globalThis as { fleetqNoted?: Noted };
shared.fleetqNoted ??= note();
const { channels, workers, timers } = shared.fleetqNoted;
timers.clear();

function note(): Noted {
  const noted: Noted = { channels: new Set(), workers: new Set(), timers: new Set() };
  const { subscribe } = Channel.prototype;
  Channel.prototype.subscribe = function (onMessage) {
    if (String(this.name).startsWith('fleetq:')) noted.channels.add(this);
    subscribe.call(this, onMessage);
  };
  process.on('worker', (worker) => noted.workers.add(worker));
  // vitest keeps the functions that were there first: its own timers are not among these.
  for (const name of ['setTimeout', 'setInterval'] as const) {
    const original = globalThis[name] as (...args: unknown[]) => NodeJS.Timeout;
    const noting = (...args: unknown[]) => {
      const timer = original(...args);
      noted.timers.add(timer);
      return timer;
    };
    Object.assign(globalThis, {
      [name]: Object.defineProperties(noting, Object.getOwnPropertyDescriptors(original)),
    });
  }
  return noted;
}

/** Node says in no other way that a timer has fired or was cleared. */
const isRunning = (timer: NodeJS.Timeout & { _destroyed?: boolean }) =>
  timer._destroyed === false && timer.hasRef();
/** Of a thread that has ended. */
const NO_THREAD = -1;
const THREADS = 'worker threads';
const OPEN = [...HANDLES, THREADS];

const GLOBALS: Readonly<Record<string, () => unknown>> = {
  'console.error': () => console.error,
  'console.log': () => console.log,
  'crypto.randomUUID': () => crypto.randomUUID,
  Date: () => Date,
  'Date.now': () => Date.now,
  fetch: () => fetch,
  'Math.random': () => Math.random,
  performance: () => performance,
  'performance.now': () => performance.now,
  queueMicrotask: () => queueMicrotask,
  setImmediate: () => globalThis.setImmediate,
  setInterval: () => setInterval,
  setTimeout: () => setTimeout,
};

/** What may not differ, by the name under which it is reported. */
function stateOfProcess(): ReadonlyMap<string, unknown> {
  const open = process.getActiveResourcesInfo();
  const running = [...timers].filter(isRunning).length;
  const threads = [...workers].filter(({ threadId }) => threadId !== NO_THREAD).length;
  return new Map<string, unknown>([
    ['cwd', process.cwd()],
    ['exitCode', process.exitCode],
    ['timers', running],
    [THREADS, threads],
    ...Object.entries(process.env).map(([name, value]) => [`env ${name}`, value] as const),
    ...Object.entries(GLOBALS).map(([name, value]) => [name, value()] as const),
    ...process
      .eventNames()
      .map((name) => [`listeners of ${String(name)}`, process.listenerCount(name)] as const),
    ...[...channels].map((one) => [`channel ${String(one.name)}`, one.hasSubscribers] as const),
    ...HANDLES.map((name) => [name, open.filter((one) => one === name).length] as const),
  ]);
}

const before = stateOfProcess();

/** A count is shown. A value is not: it may be a function, or a secret of the environment. */
function differences(now: ReadonlyMap<string, unknown>): string[] {
  return [...new Set([...before.keys(), ...now.keys()])].flatMap((name) => {
    const [old, new_] = [before.get(name) || 0, now.get(name) || 0];
    // What an earlier file has opened may close late; what this one has opened may not stay.
    if (old === new_ || (OPEN.includes(name) && new_ < old)) return [];
    return typeof new_ === 'number' ? `${name} (${old}, now ${new_})` : name;
  });
}

afterAll(async () => {
  // Node reports a thread, and opens a server, a turn after it was asked for.
  await setImmediate();
  await vi.waitFor(
    () => {
      const found = differences(stateOfProcess());
      if (found.length > 0) throw new Error(`left behind: ${found.join(', ')}`);
    },
    { timeout: PATIENCE_MS },
  );
});
