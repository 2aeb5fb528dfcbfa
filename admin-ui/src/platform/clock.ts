/** Time, in one place: what pages wait for and how late it is. */
export const now = (): number => Date.now();

export const isoTime = (at: number): string => new Date(at).toISOString();

/** What has to be taken from an instant to be shown as the clock on the wall. */
export const zoneOffsetMs = (at: number): number => new Date(at).getTimezoneOffset() * 60_000;

/** Acts after so long; what is answered takes it back. */
export function after(ms: number, act: () => void): () => void {
  const timer = setTimeout(act, ms);
  return () => clearTimeout(timer);
}

/** Resolves after so long, or rejects when it is no longer wanted. */
export function wait(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const cancel = after(ms, resolve);
    signal?.addEventListener('abort', () => {
      cancel();
      reject(signal.reason as Error);
    });
  });
}

const listeners = new Set<() => void>();
let seconds = Math.floor(now() / 1_000);
let isTicking = false;

function tick(): void {
  seconds = Math.floor(now() / 1_000);
  for (const listener of listeners) listener();
  isTicking = listeners.size > 0;
  if (isTicking) after(1_000, tick);
}

/** One clock hand for everything on the page that tells an age. */
export const secondHand = {
  subscribe(listener: () => void): () => void {
    listeners.add(listener);
    if (!isTicking) after(1_000, tick);
    isTicking = true;
    return () => {
      listeners.delete(listener);
    };
  },
  read: () => seconds,
};

/** A name that no other request has. */
export function newRequestId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
