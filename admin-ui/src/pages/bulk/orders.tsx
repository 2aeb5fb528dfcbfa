/** What a bulk operation can be told while it is under way. A pause is made at once: it can be taken back. */
import { type FormEvent, useMemo, useState } from 'react';
import { CopyButton } from '../../components/copy.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { useKeys } from '../../components/keys.ts';
import { Refusal } from '../../components/panel.tsx';
import { toast } from '../../components/toast.tsx';
import { showSpan } from '../../format/time.ts';
import { showCount } from '../../format/words.ts';
import { newRequestId } from '../../platform/clock.ts';
import { type ApiError, change } from '../../services/api.ts';
import type { Bulk, BulkOrdered } from '../../services/many.ts';
import { useMayDo, useSession } from '../../services/session.tsx';
import { asApiError } from '../../services/use-load.ts';
import { actedOn, isOver } from './bulk-words.ts';
import { RATE_MAX } from './deeds.ts';

const SAID = {
  pause: 'Pause: it stops after what is in hand',
  resume: 'Resume: it goes on',
  pace: 'Pace: changed',
  cancel: 'Cancel: it ends after what is in hand',
} as const;
type Order = keyof typeof SAID;

interface OrdersProps {
  readonly bulk: Bulk;
  readonly onDone: () => void;
}

export function Orders({ bulk, onDone }: OrdersProps) {
  const [open, setOpen] = useState<'pace' | 'cancel'>();
  const [error, setError] = useState<ApiError>();
  const [isBusy, setBusy] = useState(false);
  const { who } = useSession();
  const [mayOperate, mayAdmin] = [useMayDo('operate'), useMayDo('admin')];
  // To stop it is anybody's who may act; to go on with what wants an admin is an admin's.
  const mayGoOn = bulk.what !== 'discard' || mayAdmin;
  const isStopped = bulk.status === 'paused' || bulk.status === 'pausing' || bulk.isStalled;
  const order = async (what: Order) => {
    setBusy(true);
    setError(undefined);
    try {
      await send(bulk, what, { requestId: newRequestId() });
      toast(SAID[what]);
      onDone();
    } catch (thrown) {
      setError(asApiError(thrown));
    }
    setBusy(false);
  };
  const isOpen = mayOperate && !isOver(bulk) && bulk.status !== 'cancelling';
  useKeys(
    isOpen && (!isStopped || mayGoOn) ? { s: () => order(isStopped ? 'resume' : 'pause') } : {},
  );
  if (isOver(bulk)) return null;
  if (!mayOperate) {
    return (
      <p className="quiet">
        {who.name} may look, and not act (role {who.role}).
      </p>
    );
  }
  return (
    <div className="orders">
      {isOpen && !isStopped && (
        <button type="button" className="small" disabled={isBusy} onClick={() => order('pause')}>
          Pause it
        </button>
      )}
      {isOpen && isStopped && (
        <button
          type="button"
          className="small primary"
          disabled={isBusy || !mayGoOn}
          onClick={() => order('resume')}
        >
          Resume it
        </button>
      )}
      {isOpen && (
        <>
          <button
            type="button"
            className="small"
            disabled={!mayGoOn}
            onClick={() => setOpen('pace')}
          >
            Change its pace
          </button>
          <button type="button" className="small" onClick={() => setOpen('cancel')}>
            Cancel it
          </button>
        </>
      )}
      {error && <Refusal error={error} />}
      {open && (
        <OrderDialog what={open} bulk={bulk} onClose={() => setOpen(undefined)} onDone={onDone} />
      )}
    </div>
  );
}

function send(bulk: Bulk, what: Order, sent: { requestId: string; body?: object }) {
  const path = `/bulk/${encodeURIComponent(bulk.id)}/${what}`;
  return change<BulkOrdered>('POST', path, { body: {}, ...sent });
}

interface OrderDialogProps extends OrdersProps {
  readonly what: 'pace' | 'cancel';
  readonly onClose: () => void;
}

function OrderDialog({ what, bulk, onClose, onDone }: OrderDialogProps) {
  const [rate, setRate] = useState(`${bulk.rate}`);
  const [error, setError] = useState<ApiError>();
  const [isBusy, setBusy] = useState(false);
  const requestId = useMemo(newRequestId, []);
  const isFit = what === 'cancel' || isRate(rate);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (!isFit) return;
    setBusy(true);
    try {
      await send(bulk, what, { requestId, body: what === 'pace' ? { rate: Number(rate) } : {} });
      toast(SAID[what]);
      onDone();
      onClose();
    } catch (thrown) {
      setError(asApiError(thrown));
      setBusy(false);
    }
  };
  const command = `fleetq bulk ${what} ${bulk.id}${what === 'pace' ? ` --rate ${rate}/s` : ''}`;
  const left = Math.max(0, (bulk.expected ?? 0) - actedOn(bulk));
  return (
    <Dialog title={what === 'pace' ? 'Change its pace' : 'Cancel the operation'} onClose={onClose}>
      <form onSubmit={submit} className="act">
        {what === 'pace' ? (
          <label>
            Runs a second, from its next page on
            <input
              type="number"
              min={1}
              max={RATE_MAX}
              value={rate}
              onChange={(event) => setRate(event.target.value)}
            />
          </label>
        ) : (
          <p>
            It ends after what is in hand, and cannot be gone on with. What was done to{' '}
            {showCount(actedOn(bulk))} stays done; about {showCount(left)} stay as they are.
          </p>
        )}
        {what === 'pace' && (
          <p className="preview" role="status">
            {isFit
              ? `About ${showSpan((left / Number(rate)) * 1_000)} for the ${showCount(left)} that are left.`
              : `The rate must be a whole number, 1 to ${RATE_MAX}.`}
          </p>
        )}
        <div className="command">
          <code>{command}</code>
          <CopyButton text={command} what="the command" />
        </div>
        {error && <Refusal error={error} />}
        <div className="act-buttons">
          <button type="button" onClick={onClose}>
            Leave it
          </button>
          <button
            type="submit"
            className={what === 'cancel' ? 'danger' : 'primary'}
            disabled={isBusy || !isFit}
          >
            {what === 'pace' ? 'Change it' : 'Cancel it'}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

function isRate(text: string): boolean {
  return /^\d{1,4}$/.test(text.trim()) && Number(text) >= 1 && Number(text) <= RATE_MAX;
}
