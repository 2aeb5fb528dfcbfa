/** Short words on what was done, said once, for eyes and for screen readers. */
import { useSyncExternalStore } from 'react';
import { after } from '../platform/clock.ts';

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly kind: 'good' | 'bad';
}

const SHOWN_MS = 6_000;
const SHOWN_MAX = 3;

let toasts: readonly Toast[] = [];
let nextId = 1;
const listeners = new Set<() => void>();

function put(next: readonly Toast[]): void {
  toasts = next.slice(-SHOWN_MAX);
  for (const listener of listeners) listener();
}

export function toast(text: string, kind: Toast['kind'] = 'good'): void {
  const id = nextId++;
  put([...toasts, { id, text, kind }]);
  after(SHOWN_MS, () => put(toasts.filter((each) => each.id !== id)));
}

export function Toasts() {
  const shown = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => toasts,
  );
  return (
    <div className="toasts" role="status" aria-live="polite">
      {shown.map(({ id, text, kind }) => (
        <p key={id} data-kind={kind}>
          {text}
        </p>
      ))}
    </div>
  );
}
