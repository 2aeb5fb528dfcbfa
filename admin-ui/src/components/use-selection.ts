/** Which row one is at, and which are picked: some of those that are loaded, or all there are. */
import { useCallback, useEffect, useState } from 'react';
import { useKeys } from './keys.ts';

export interface Selection {
  readonly at: number;
  readonly ids: ReadonlySet<string>;
  /** Everything that fits, loaded or not. */
  readonly isAll: boolean;
  setAt(index: number): void;
  toggle(id: string): void;
  toggleLoaded(): void;
  takeAll(): void;
  clear(): void;
}

interface Picked {
  readonly ids: ReadonlySet<string>;
  readonly isAll: boolean;
}

const NOTHING: Picked = { ids: new Set(), isAll: false };

/** `of` says what the rows are: others begin with nothing picked. */
export function useSelection(rows: readonly { readonly id: string }[], of: string): Selection {
  // By its name: rows come and go above it.
  const [atId, setAtId] = useState<string>();
  const [{ ids, isAll }, setPicked] = useState(NOTHING);
  const at = rows.findIndex(({ id }) => id === atId);
  const setAt = (index: number) => setAtId(rows[index]?.id);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another filter has other rows
  useEffect(() => {
    setAtId(undefined);
    setPicked(NOTHING);
  }, [of]);
  const loaded = () => rows.map(({ id }) => id);
  const toggle = (id: string) =>
    setPicked((before) => {
      const next = new Set(before.isAll ? loaded() : before.ids);
      if (!next.delete(id)) next.add(id);
      return { ids: next, isAll: false };
    });
  const hasAll = rows.length > 0 && (isAll || rows.every(({ id }) => ids.has(id)));
  const toggleLoaded = () => setPicked(hasAll ? NOTHING : { ids: new Set(loaded()), isAll: false });
  const takeAll = useCallback(() => setPicked({ ids: new Set(), isAll: true }), []);
  const clear = useCallback(() => setPicked(NOTHING), []);
  useKeys({
    j: () => setAt(Math.min(rows.length - 1, at + 1)),
    k: () => setAt(Math.max(0, at - 1)),
    x: () => rows[at] && toggle(rows[at].id),
    ...(rows.length > 0 ? { X: takeAll } : {}),
    ...(isAll || ids.size > 0 ? { ['Escape']: clear } : {}),
  });
  return { at, ids, isAll, setAt, toggle, toggleLoaded, takeAll, clear };
}
