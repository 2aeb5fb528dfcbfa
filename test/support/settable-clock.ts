/** A host's clock, which somebody may set; what is monotonic goes on as it did. */
import type { FakeClock } from './fake-clock.ts';

export function settable(
  clock: FakeClock,
  offMs = 0,
): { readonly clock: FakeClock; offMs: number } {
  const host = {
    offMs,
    clock: new Proxy(clock, {
      get: (target, name) => {
        if (name === 'now') return () => target.now() + host.offMs;
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    }) as FakeClock,
  };
  return host;
}
