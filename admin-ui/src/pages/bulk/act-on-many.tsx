/** The button that acts on everything that was picked, or that fits; `b` does the same. */
import { Suspense, useState } from 'react';
import { useKeys } from '../../components/keys.ts';
import { later } from '../../components/later.ts';
import { Boundary } from '../../components/panel.tsx';
import type { Selection } from '../../components/use-selection.ts';
import { useMayDo, useSession } from '../../services/session.tsx';
import { type DeedName, EVERYTHING, filterOfIds, PICKED_MAX } from './deeds.ts';

const BeginDialog = later(() => import('./begin-dialog.tsx').then((m) => m.BeginDialog));

interface ActOnManyProps {
  readonly label: string;
  readonly filter: string;
  readonly what?: DeedName;
  readonly whats?: readonly DeedName[];
  /** Where some were picked, these and no others. */
  readonly selection?: Selection;
  readonly className?: string;
}

/** Who may not act, and who has no store to act on, is offered nothing. */
export function useMayActOnMany(): boolean {
  const { status } = useSession();
  return useMayDo('operate') && status.serves?.store !== false;
}

export function ActOnMany({ label, filter, selection, ...rest }: ActOnManyProps) {
  const [isOpen, setOpen] = useState(false);
  const mayAct = useMayActOnMany();
  const isPicked = selection !== undefined && !selection.isAll;
  const isTooMany = isPicked && selection.ids.size > PICKED_MAX;
  useKeys(mayAct && !isTooMany ? { b: () => setOpen(true) } : {});
  if (!mayAct) return null;
  const wanted = isPicked ? filterOfIds(selection.ids) : filter.trim() || EVERYTHING;
  return (
    <>
      <button
        type="button"
        className={`small ${rest.className ?? ''}`}
        disabled={isTooMany}
        title={
          isTooMany
            ? `Not one by one: more than ${PICKED_MAX}. Select all that match, and filter for them`
            : 'b'
        }
        onClick={() => setOpen(true)}
      >
        {label}
      </button>
      {isOpen && (
        <Boundary name="The dialog">
          <Suspense fallback={null}>
            <BeginDialog
              filter={wanted}
              what={rest.what}
              whats={rest.whats}
              onClose={() => setOpen(false)}
            />
          </Suspense>
        </Boundary>
      )}
    </>
  );
}
