/**
 * Unit test files share their process. This proves, after each file, that the next one finds the process
 * as this one found it: no listener, no subscriber, no open handle, nothing changed that all files see.
 */
import { Channel } from 'node:diagnostics_channel';
import { afterAll, expect, vi } from 'vitest';

const PATIENCE_MS = 10_000;
/** Handles by which one file can disturb another; what only holds memory is left to the collector. */
const HANDLES = ['TCPServerWrap', 'PipeServerWrap', 'TCPSocketWrap', 'ProcessWrap', 'MessagePort'];

/** What tests like to replace. */
const GLOBALS = ['Date', 'fetch', 'performance', 'setInterval', 'setTimeout'] as const;
const originals = Object.fromEntries(GLOBALS.map((name) => [name, globalThis[name]]));

/** The product's channels that were ever subscribed to in this process. Node has no list of them. */
const shared = globalThis as { fleetqChannels?: Set<Channel> };
shared.fleetqChannels ??= spyOnChannels();
const channels = shared.fleetqChannels;

function spyOnChannels(): Set<Channel> {
  const seen = new Set<Channel>();
  const { subscribe } = Channel.prototype;
  Channel.prototype.subscribe = function (onMessage) {
    if (String(this.name).startsWith('fleetq:')) seen.add(this);
    subscribe.call(this, onMessage);
  };
  return seen;
}

const handlesNow = () =>
  HANDLES.map((name) => process.getActiveResourcesInfo().filter((one) => one === name).length);
const handlesBefore = handlesNow();

function stateOfProcess() {
  const listeners = process.eventNames().map((name) => [String(name), process.listenerCount(name)]);
  return {
    cwd: process.cwd(),
    exitCode: process.exitCode,
    environment: { ...process.env },
    replaced: GLOBALS.filter((name) => globalThis[name] !== originals[name]),
    listeners: Object.fromEntries(listeners.filter(([, count]) => count !== 0).sort()),
    subscribed: [...channels].filter((one) => one.hasSubscribers).map(({ name }) => String(name)),
    // A handle of an earlier file may close late; one of this file may not stay.
    opened: HANDLES.filter((_, index) => handlesNow()[index]! > handlesBefore[index]!),
  };
}

const before = stateOfProcess();

afterAll(() =>
  vi.waitFor(() => expect(stateOfProcess()).toEqual(before), { timeout: PATIENCE_MS }),
);
