/** The acts of a run as buttons. Who may only look is told so, and the server holds to it. */
import { useState } from 'react';
import { useMayDo, useSession } from '../../services/session.tsx';
import type { Run } from '../../services/types.ts';
import { ActDialog } from './act-dialog.tsx';
import { ACT_NAMES, ACTS, type ActName } from './acts.ts';

interface ActionsProps {
  readonly run: Run;
  readonly phases: readonly string[];
  readonly onDone: () => void;
}

export function Actions({ run, phases, onDone }: ActionsProps) {
  const [open, setOpen] = useState<ActName>();
  const { who, status } = useSession();
  const [mayOperate, mayAdmin] = [useMayDo('operate'), useMayDo('admin')];
  if (!mayOperate) {
    return (
      <p className="quiet actions-note">
        {who.name} may look, and not act (role {who.role}).
      </p>
    );
  }
  const isAlone = status.serves?.store === false;
  const whyNot = (name: ActName) =>
    ACTS[name].role === 'admin' && !mayAdmin ? 'this needs the role admin' : ACTS[name].whyNot(run);
  // Each in its place, whatever the run does meanwhile: nothing moves under a pointer, or away from
  // the focus. What is not possible says why.
  const shown = ACT_NAMES.filter((name) => !isAlone || name === 'cancel');
  return (
    <div className="actions">
      {shown.map((name) => {
        const why = whyNot(name);
        return (
          <button
            key={name}
            type="button"
            className="small"
            aria-disabled={why !== undefined}
            title={why === undefined ? ACTS[name].about : `Not now: ${why}`}
            onClick={() => why === undefined && setOpen(name)}
          >
            {ACTS[name].label}
          </button>
        );
      })}
      {open && (
        <ActDialog
          name={open}
          run={run}
          phases={phases}
          onClose={() => setOpen(undefined)}
          onDone={onDone}
        />
      )}
    </div>
  );
}
