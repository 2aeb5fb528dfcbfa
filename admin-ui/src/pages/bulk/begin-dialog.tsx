/** Begins a bulk operation: what it would find and do is asked first, whatever is filled in. */
import { type FormEvent, useEffect, useId, useMemo, useState } from 'react';
import { CopyButton } from '../../components/copy.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Refusal } from '../../components/panel.tsx';
import { toast } from '../../components/toast.tsx';
import { plural } from '../../format/words.ts';
import { after, newRequestId } from '../../platform/clock.ts';
import { go } from '../../router/router.tsx';
import { type ApiError, change } from '../../services/api.ts';
import type { Bulk, BulkTried } from '../../services/many.ts';
import { useMayDo } from '../../services/session.tsx';
import { asApiError } from '../../services/use-load.ts';
import { BeginFields } from './begin-fields.tsx';
import { BeginPreview } from './begin-preview.tsx';
import {
  bodyOf,
  commandOf,
  DEED_NAMES,
  DEEDS,
  type DeedName,
  type Filled,
  TYPED_ABOVE,
  wrongOf,
} from './deeds.ts';
import '../../styles/acts.css';
import '../../styles/bulk.css';

const RATE_OTHERWISE = '50';
/** So long nothing is typed before it is asked what would be done. */
const SETTLE_MS = 250;

interface BeginDialogProps {
  readonly filter: string;
  /** What is chosen at first; all that makes sense where it was asked for. */
  readonly what?: DeedName | undefined;
  readonly whats?: readonly DeedName[] | undefined;
  readonly onClose: () => void;
}

export function BeginDialog({ filter, whats = DEED_NAMES, what, onClose }: BeginDialogProps) {
  const mayAdmin = useMayDo('admin');
  const offered = whats.filter((name) => mayAdmin || DEEDS[name].role !== 'admin');
  const [filled, setFilled] = useState<Filled>({
    what: what ?? offered[0] ?? 'redrive',
    rate: RATE_OTHERWISE,
    limit: '',
    reason: '',
    runAt: '10m',
    isFresh: false,
  });
  const [typed, setTyped] = useState('');
  const [error, setError] = useState<ApiError>();
  const [isBusy, setBusy] = useState(false);
  const requestId = useMemo(newRequestId, []);
  const tried = useTried(filled, filter);
  const deed = DEEDS[filled.what];
  const wrong = wrongOf(filled);
  const count = tried.kind === 'would' ? tried.tried.count : 0;
  const isTyping = deed.isDestructive === true && count > TYPED_ABOVE;
  const isReady =
    wrong === undefined &&
    tried.kind === 'would' &&
    count > 0 &&
    (!isTyping || typed === `${count}`);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (!isReady) return;
    setBusy(true);
    try {
      const body = bodyOf(filled, filter);
      const { id } = await change<Bulk>('POST', '/bulk', { body, requestId });
      toast(`${deed.label}: begun`);
      onClose();
      go(`/bulk/${id}`);
    } catch (thrown) {
      setError(asApiError(thrown));
      setBusy(false);
    }
  };
  const command = commandOf(filled, filter);
  return (
    <Dialog title="Bulk operation" onClose={onClose}>
      <form onSubmit={submit} className="act">
        <BeginFields filled={filled} offered={offered} onChange={setFilled} />
        <p className="bulk-filter">
          <span className="quiet">Which runs</span> <code>{filter}</code>
        </p>
        {wrong && (
          <p className="field-wrong" role="alert">
            {wrong}
          </p>
        )}
        <BeginPreview tried={tried} rate={Number(filled.rate)} />
        {isTyping && <Typed count={count} value={typed} onChange={setTyped} />}
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
            className={deed.isDestructive ? 'danger' : 'primary'}
            disabled={isBusy || !isReady}
          >
            {isBusy ? 'Beginning…' : `${deed.label} ${count > 0 ? plural(count, 'run') : ''}`}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

interface TypedProps {
  readonly count: number;
  readonly value: string;
  readonly onChange: (text: string) => void;
}

function Typed({ count, value, onChange }: TypedProps) {
  const id = useId();
  return (
    <label htmlFor={id}>
      <span>
        This cannot be taken back. Type <strong>{count}</strong> to go on
      </span>
      <input
        id={id}
        inputMode="numeric"
        autoComplete="off"
        value={value}
        onChange={(event) => onChange(event.target.value.trim())}
      />
    </label>
  );
}

export type Tried =
  | { readonly kind: 'asking' }
  | { readonly kind: 'would'; readonly tried: BulkTried }
  | { readonly kind: 'refused'; readonly error: ApiError };

/** Asked again when something is filled in that changes the answer. */
function useTried(filled: Filled, filter: string): Tried {
  const [tried, setTried] = useState<Tried>({ kind: 'asking' });
  const isWrong = wrongOf(filled) !== undefined;
  const body = JSON.stringify({ ...bodyOf({ ...filled, rate: '1' }, filter), dryRun: true });
  useEffect(() => {
    setTried({ kind: 'asking' });
    if (isWrong) return;
    const aborter = new AbortController();
    const { signal } = aborter;
    const cancel = after(SETTLE_MS, () => {
      change<BulkTried>('POST', '/bulk', { body: JSON.parse(body) as object, signal }).then(
        (answer) => !signal.aborted && setTried({ kind: 'would', tried: answer }),
        (thrown) => !signal.aborted && setTried({ kind: 'refused', error: asApiError(thrown) }),
      );
    });
    return () => {
      cancel();
      aborter.abort();
    };
  }, [body, isWrong]);
  return tried;
}
