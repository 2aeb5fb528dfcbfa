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
  const shown = ACT_NAMES.filter((name) => !isAlone || name === 'cancel')
    .filter((name) => name !== 'resume' || ACTS.resume.whyNot(run) === undefined)
    .filter((name) => name !== 'discard' || run.status === 'failed');
  return (
    <div className="actions">
      {shown.map((name) => {
        const { label, role, whyNot } = ACTS[name];
        const why = role === 'admin' && !mayAdmin ? 'this needs the role admin' : whyNot(run);
        return (
          <button
            key={name}
            type="button"
            className="small"
            disabled={why !== undefined}
            title={why === undefined ? ACTS[name].about : `Not now: ${why}`}
            onClick={() => setOpen(name)}
          >
            {label}
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
