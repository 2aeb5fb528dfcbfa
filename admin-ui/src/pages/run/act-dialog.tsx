/** One act: what it would do is asked first, and done only to the run as it was seen. */
import { type FormEvent, useEffect, useMemo, useRef, useState } from 'react';
import { CopyButton } from '../../components/copy.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Refusal } from '../../components/panel.tsx';
import { toast } from '../../components/toast.tsx';
import { isRounded } from '../../format/lossless.ts';
import { newRequestId } from '../../platform/clock.ts';
import { go } from '../../router/router.tsx';
import { ApiError, change } from '../../services/api.ts';
import type { Changed, Run } from '../../services/types.ts';
import { asApiError } from '../../services/use-load.ts';
import { ActFields } from './act-fields.tsx';
import { ActPreview } from './act-preview.tsx';
import { ACTS, type ActName, bodyOf, commandOf, type Filled } from './acts.ts';

interface ActDialogProps {
  readonly name: ActName;
  readonly run: Run;
  readonly phases: readonly string[];
  /** Of a redrive, the input to begin with, to be changed. */
  readonly input?: string;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

export function ActDialog({ name, run, phases, input, onClose, onDone }: ActDialogProps) {
  const act = ACTS[name];
  const label = input === undefined ? act.label : 'Edit and redrive';
  const [filled, setFilled] = useState<Filled>({
    reason: '',
    runAt: '10m',
    from: phases[0] ?? 'main.work',
    // Of what was completed nothing is left to go on from.
    isFresh: run.status === 'completed',
    input: input ?? '',
  });
  const [error, setError] = useState<ApiError>();
  const [isBusy, setBusy] = useState(false);
  // Under one name it is done once, however often it is sent.
  const requestId = useMemo(newRequestId, []);
  const preview = usePreview(name, run, filled);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setError(undefined);
    try {
      const done = await send(name, run, { body: safeBody(name, filled), requestId });
      toast(doneText(label, done));
      onDone();
      onClose();
      if (done.made !== undefined) go(`/runs/${done.made}`);
    } catch (thrown) {
      setError(asApiError(thrown));
      setBusy(false);
    }
  };
  // What is wrong with the input is said where it is typed.
  const refused = preview.kind === 'refused' ? preview.error : undefined;
  const wrong = refused && OF_INPUT.includes(refused.code) ? refused : undefined;
  const command = commandOf(name, run, filled);
  return (
    <Dialog title={`${label}: ${run.machine}`} onClose={onClose}>
      <form onSubmit={submit} className="act">
        <p>{input === undefined ? act.about : 'It begins afresh, with this input.'}</p>
        <ActFields
          name={name}
          filled={filled}
          phases={phases}
          isEditing={input !== undefined}
          wrong={wrong}
          onChange={setFilled}
        />
        {!wrong && <ActPreview preview={preview} of={name} filled={filled} />}
        {command !== undefined && (
          <div className="command">
            <code>{command}</code>
            <CopyButton text={command} what="the command" />
          </div>
        )}
        {error && <Refusal error={error} />}
        <div className="act-buttons">
          <button type="button" onClick={onClose}>
            Leave it
          </button>
          <button
            type="submit"
            className={act.isDestructive ? 'danger' : 'primary'}
            disabled={isBusy || preview.kind !== 'would' || preview.isStale}
          >
            {isBusy ? 'Working…' : label}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

const OF_INPUT: readonly string[] = ['NOT_JSON', 'NOT_EXACT', 'FLEETQ_SCHEMA'];

function doneText(label: string, { kind, made }: Changed): string {
  if (made !== undefined) return `${label}: made ${made}`;
  if (kind === 'requested') return `${label}: asked for; its pod has to see it`;
  return kind === 'already' ? `${label}: it was so already` : `${label}: done`;
}

type Answer =
  | { readonly kind: 'asking' }
  | { readonly kind: 'would'; readonly changed: Changed }
  | { readonly kind: 'refused'; readonly error: ApiError };

/** Stale while it speaks of something else than is filled in by now. */
export type Preview = Answer & { readonly isStale: boolean };

/** Asked again whenever something is filled in. */
function usePreview(name: ActName, run: Run, filled: Filled): Preview {
  const [preview, setPreview] = useState<Answer & { readonly of?: string }>({ kind: 'asking' });
  const asked = useRef(0);
  // A reason changes nothing of what would be done.
  const of = JSON.stringify({ ...filled, reason: '' });
  useEffect(() => {
    const turn = ++asked.current;
    const aborter = new AbortController();
    const answer = async () => {
      const body = { ...safeBody(name, filled), dryRun: true };
      return send(name, run, { body, signal: aborter.signal });
    };
    answer().then(
      (changed) => turn === asked.current && setPreview({ kind: 'would', changed, of }),
      (thrown) => {
        if (turn === asked.current && !aborter.signal.aborted) {
          setPreview({ kind: 'refused', error: asApiError(thrown), of });
        }
      },
    );
    return () => aborter.abort();
  }, [name, run, filled, of]);
  return { ...preview, isStale: preview.of !== of };
}

function safeBody(name: ActName, filled: Filled): object {
  const body = readBody(name, filled);
  if (isRounded((body as { readonly input?: unknown }).input)) {
    const hint = 'write it as a text, or redrive it without another input: then it stays as it is';
    throw new ApiError(0, 'NOT_EXACT', 'a whole number beyond 2^53 would be rounded', hint);
  }
  return body;
}

function readBody(name: ActName, filled: Filled): object {
  try {
    return bodyOf(name, filled);
  } catch (error) {
    throw new ApiError(0, 'NOT_JSON', `the input is not JSON: ${(error as Error).message}`);
  }
}

interface Sent {
  readonly body: object;
  readonly requestId?: string;
  readonly signal?: AbortSignal;
}

function send(name: ActName, run: Run, sent: Sent): Promise<Changed> {
  const path = `/runs/${encodeURIComponent(run.id)}/${name}`;
  return change<Changed>('POST', path, { ...sent, ifRevision: run.revision });
}
