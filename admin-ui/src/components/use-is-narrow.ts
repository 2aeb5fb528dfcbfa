/** Whether there is room for one column only; as the style sheets see it. */
import { useSyncExternalStore } from 'react';

const narrow = matchMedia('(max-width: 820px)');

export function useIsNarrow(): boolean {
  return useSyncExternalStore(
    (listener) => {
      narrow.addEventListener('change', listener);
      return () => narrow.removeEventListener('change', listener);
    },
    () => narrow.matches,
  );
}
