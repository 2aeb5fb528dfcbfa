/** Fixes the limit of an API, lets go of that, or forgets what was learned: first what that means. */
import { type FormEvent, useMemo, useState } from 'react';
import { CopyButton } from '../../components/copy.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Refusal } from '../../components/panel.tsx';
import { toast } from '../../components/toast.tsx';
import { newRequestId } from '../../platform/clock.ts';
import { type ApiError, change } from '../../services/api.ts';
import type { Throttle } from '../../services/fleet-types.ts';
import { asApiError } from '../../services/use-load.ts';
import { effectsOf, type Order, type Wish } from './effects.ts';
import { pathOf, shellWord } from './throttle-words.ts';

interface DialogProps {
  readonly throttle: Throttle;
  readonly order: Order;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

interface Changed {
  readonly kind: 'done' | 'already';
}

const TITLE: Record<Order, string> = {
  pin: 'Fix the limit of',
  unpin: 'Let go of the limit of',
  reset: 'Forget what is known of',
};
const SUBMIT: Record<Order, string> = { pin: 'Fix it', unpin: 'Let go', reset: 'Forget it' };
const DONE: Record<Order, string> = {
  pin: 'has its limit fixed',
  unpin: 'has its own limit again',
  reset: 'starts anew',
};
const SPANS: readonly (readonly [value: string, label: string])[] = [
  ['', 'until somebody lets go of it'],
  ['15m', 'for 15 minutes'],
  ['1h', 'for an hour'],
  ['8h', 'for 8 hours'],
  ['24h', 'for a day'],
];

export function ThrottleDialog({ throttle, order, onClose, onDone }: DialogProps) {
  const { api, cap, isAdaptive, now } = throttle;
  const first = Math.max(1, Math.floor(cap ?? 1));
  const [limit, setLimit] = useState(`${first}`);
  const [during, setDuring] = useState('1h');
  const [reason, setReason] = useState('');
  const [error, setError] = useState<ApiError>();
  const [isBusy, setBusy] = useState(false);
  const requestId = useMemo(newRequestId, []);
  const wish: Wish = { order, limit: Number(limit), during };
  const { effects, wrong } = effectsOf(wish, { cap, isAdaptive, inFlight: now?.inFlight ?? 0 });
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (wrong !== undefined) return;
    setBusy(true);
    const more = order === 'pin' ? { limit: wish.limit, ...(during ? { for: during } : {}) } : {};
    const body = { ...more, ...(reason === '' ? {} : { reason }) };
    try {
      const { kind } = await change<Changed>('POST', `${pathOf(api)}/${order}`, {
        body,
        requestId,
      });
      toast(kind === 'done' ? `${api} ${DONE[order]}` : 'There was nothing to change');
      onDone();
      onClose();
    } catch (thrown) {
      setError(asApiError(thrown));
      setBusy(false);
    }
  };
  const command = commandOf(api, wish);
  return (
    <Dialog title={`${TITLE[order]} ${api}`} onClose={onClose}>
      <form onSubmit={submit} className="act">
        {order === 'pin' && (
          <div className="pin-fields">
            <label>
              Calls at once, of the whole fleet
              <input
                type="number"
                min="0.1"
                step="any"
                value={limit}
                aria-invalid={wrong !== undefined}
                onChange={(event) => setLimit(event.target.value)}
              />
            </label>
            <label>
              For how long
              <select value={during} onChange={(event) => setDuring(event.target.value)}>
                {SPANS.map(([value, label]) => (
                  <option key={value} value={value}>
                    {label}
                  </option>
                ))}
              </select>
            </label>
          </div>
        )}
        {wrong !== undefined ? (
          <p className="refusal" role="alert">
            {wrong}
          </p>
        ) : (
          <div className="preview" role="status">
            <h3>What it would do</h3>
            <ul>
              {effects.map((effect) => (
                <li key={effect}>{effect}</li>
              ))}
            </ul>
          </div>
        )}
        <label>
          Reason, for whoever reads the audit log
          <input
            value={reason}
            maxLength={1_000}
            onChange={(event) => setReason(event.target.value)}
          />
        </label>
        <div className="command">
          <code>{command}</code>
          <CopyButton text={command} what="the command" />
        </div>
        {error && <Refusal error={error} />}
        <div className="act-buttons">
          <button type="button" onClick={onClose}>
            Leave it
          </button>
          <button type="submit" className="danger" disabled={isBusy || wrong !== undefined}>
            {isBusy ? 'Working…' : SUBMIT[order]}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

function commandOf(api: string, { order, limit, during }: Wish): string {
  const name = shellWord(api);
  if (order === 'reset') return `fleetq throttles reset ${name}`;
  if (order === 'unpin') return `fleetq throttles pin ${name} off`;
  return `fleetq throttles pin ${name} ${limit}${during ? ` --for ${during}` : ''}`;
}
