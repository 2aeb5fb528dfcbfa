/** What becomes of a signal that comes before a pod has taken its place. */
import { EventEmitter } from 'node:events';
import { expect, test, vi } from 'vitest';
import { keepSignals } from '../../src/cli/worker/early-signals.ts';
import { tell } from '../../src/telemetry/events.ts';

/** A process that hears signals and ends by none of them. */
function makeProcess() {
  const exit = vi.fn((code: number) => {
    throw new Error(`exit ${code}`);
  });
  const made = Object.assign(new EventEmitter(), { pid: 4_711, exit, kill: vi.fn() });
  const letGo = keepSignals(made as never);
  const send = (signal: string) => made.emit(signal, signal);
  return { made, exit, kill: made.kill, letGo, send };
}

const begin = () => tell('engine.started', () => ({ journal: 'j', boot: 1, slots: 1 }));

test('with nothing in hand the process ends at once, and well', () => {
  const { send, letGo, kill } = makeProcess();
  expect(() => send('SIGTERM')).toThrow(/^exit 0$/);
  letGo();
  expect(kill).not.toHaveBeenCalled();
});

test('once its runs go on, the signal is kept for whoever governs the process', () => {
  const { send, letGo, exit, kill } = makeProcess();
  begin();
  send('SIGTERM');
  expect(exit).not.toHaveBeenCalled();
  letGo();
  expect(kill.mock.calls).toEqual([[4_711, 'SIGTERM']]);
});

test('a second one ends it at once', () => {
  const { send, letGo } = makeProcess();
  begin();
  send('SIGINT');
  expect(() => send('SIGTERM')).toThrow(/^exit 143$/);
  letGo();
});

test('it leaves no listener behind', () => {
  const { made, letGo, kill } = makeProcess();
  letGo();
  expect(made.eventNames()).toEqual([]);
  expect(kill).not.toHaveBeenCalled();
});
