/** What becomes of a signal that comes before a pod has taken its place. */
import { afterEach, expect, test, vi } from 'vitest';
import { keepSignals } from '../../src/cli/worker/early-signals.ts';
import { tell } from '../../src/telemetry/events.ts';

class Ended extends Error {}

const exit = vi.spyOn(process, 'exit').mockImplementation((code) => {
  throw new Ended(String(code));
});
const kill = vi.spyOn(process, 'kill').mockImplementation(() => true);
afterEach(() => {
  exit.mockClear();
  kill.mockClear();
});

function begin(): void {
  tell('engine.started', () => ({ journal: 'j', boot: 1, slots: 1 }));
}

test('with nothing in hand the process ends at once, and well', () => {
  const letGo = keepSignals();
  expect(() => process.emit('SIGTERM', 'SIGTERM')).toThrow(/^0$/);
  letGo();
  expect(kill).not.toHaveBeenCalled();
});

test('once its runs go on, the signal is kept for whoever governs the process', () => {
  const letGo = keepSignals();
  begin();
  process.emit('SIGTERM', 'SIGTERM');
  expect(exit).not.toHaveBeenCalled();
  letGo();
  expect(kill.mock.calls).toEqual([[process.pid, 'SIGTERM']]);
});

test('a second one ends it at once', () => {
  const letGo = keepSignals();
  begin();
  process.emit('SIGINT', 'SIGINT');
  expect(() => process.emit('SIGTERM', 'SIGTERM')).toThrow(/^143$/);
  letGo();
});

test('it leaves no listener behind', () => {
  const before = process.listenerCount('SIGTERM');
  keepSignals()();
  expect(process.listenerCount('SIGTERM')).toBe(before);
  expect(kill).not.toHaveBeenCalled();
});
