/** What only a fleet can do is refused where there is no store. */
import { NoStoreError } from '../../fleet/index.ts';
import type { Shared } from './shared.ts';

/** For what only a fleet can do. */
export function sharedOf(
  { shared }: { readonly shared: Shared | undefined },
  what: string,
): Shared {
  if (!shared) throw new NoStoreError(what);
  return shared;
}
