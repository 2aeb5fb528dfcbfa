/**
 * Unit test files share their process. This proves, after each file, that the next one finds the process
 * as this one found it: no listener, no subscriber, no open handle, nothing changed that all files see.
 */
import { Channel } from 'node:diagnostics_channel';
import { afterAll, expect } from 'vitest';

const PATIENCE_MS = 10_000;
/** Handles by which one file can disturb another; what only holds memory is left to the collector. */
const HANDLES = ['TCPServerWrap', 'PipeServerWrap', 'TCPSocketWrap', 'ProcessWrap', 'Timeout'];

/** The product's channels that were ever subscribed to in this process. Node has no list of them. */
const channels = ((globalThis as { fleetqChannels?: Set<Channel> }).fleetqChannels ??= spyOnChannels());

function spyOnChannels(): Set<Channel> {
  const seen = new Set<Channel>();
  const { subscribe } = Channel.prototype;
  Channel.prototype.subscribe = function (onMessage) {
    if (String(this.name).startsWith('fleetq:')) seen.add(this);
    subscribe.call(this, onMessage);
  };
  return seen;
}

function stateOfProcess() {
  const listeners = process.eventNames().map((name) => [String(name), process.listenerCount(name)]);
  const handles = process.getActiveResourcesInfo().filter((name) => HANDLES.includes(name));
  return {
    cwd: process.cwd(),
    exitCode: process.exitCode,
    environment: Object.entries(process.env)
      .filter(([name]) => !name.startsWith('VITEST'))
      .sort(),
    globals: Object.keys(globalThis).sort(),
    listeners: Object.fromEntries(listeners.filter(([, count]) => count !== 0).sort()),
    subscribed: [...channels].filter((one) => one.hasSubscribers).map(({ name }) => String(name)),
    handles: HANDLES.map((name) => [name, handles.filter((one) => one === name).length]),
  };
}

const before = stateOfProcess();

afterAll(() => expect.poll(stateOfProcess, { timeout: PATIENCE_MS }).toEqual(before));
