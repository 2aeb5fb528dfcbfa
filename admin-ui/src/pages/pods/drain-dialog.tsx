/** Asks a pod to give back what it has and to end: first what that means, then the act. */
import { type FormEvent, useMemo, useState } from 'react';
import { CopyButton } from '../../components/copy.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Loading, Refusal } from '../../components/panel.tsx';
import { ReasonField } from '../../components/reason-field.tsx';
import { toast } from '../../components/toast.tsx';
import { plural } from '../../format/words.ts';
import { newRequestId } from '../../platform/clock.ts';
import { type ApiError, change } from '../../services/api.ts';
import type { PodRow } from '../../services/fleet-types.ts';
import { asApiError, useLoad } from '../../services/use-load.ts';
import { ownRoutes, stateOf } from './pod-state.ts';

interface DrainProps {
  readonly pod: PodRow;
  readonly pods: readonly PodRow[];
  readonly onClose: () => void;
  readonly onDone: () => void;
}

interface Drained {
  readonly pod: PodRow;
  readonly isAsked: boolean;
}

export function DrainDialog({ pod, pods, onClose, onDone }: DrainProps) {
  const [reason, setReason] = useState('');
  const [error, setError] = useState<ApiError>();
  const [isBusy, setBusy] = useState(false);
  const requestId = useMemo(newRequestId, []);
  const path = `/pods/${encodeURIComponent(pod.pod)}/drain`;
  const preview = useLoad(pod.pod, (signal) =>
    change<Drained>('POST', path, { body: { dryRun: true }, signal }),
  );
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    try {
      const body = reason === '' ? {} : { reason };
      const { isAsked } = await change<Drained>('POST', path, { body, requestId });
      toast(isAsked ? `${pod.name} was asked to drain` : `${pod.name} is not up any more`);
      onDone();
      onClose();
    } catch (thrown) {
      setError(asApiError(thrown));
      setBusy(false);
    }
  };
  const command = `fleetq drain ${pod.pod}`;
  return (
    <Dialog title={`Drain ${pod.name}`} onClose={onClose}>
      <form onSubmit={submit} className="act">
        <p>It claims nothing more, finishes the phases in hand, gives the rest back, and ends.</p>
        {preview.error ? (
          <Refusal error={preview.error} />
        ) : preview.data ? (
          <Effects pod={preview.data.pod} pods={pods} />
        ) : (
          <Loading what="what it would do" />
        )}
        <ReasonField {...{ reason, setReason }} />
        <div className="command">
          <code>{command}</code>
          <CopyButton text={command} what="the command" />
        </div>
        {error && <Refusal error={error} />}
        <div className="act-buttons">
          <button type="button" onClick={onClose}>
            Leave it
          </button>
          <button type="submit" className="danger" disabled={isBusy || !preview.data}>
            {isBusy ? 'Working…' : 'Drain'}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

function Effects({ pod, pods }: { pod: PodRow; pods: readonly PodRow[] }) {
  const others = pods.filter((other) => other.pod !== pod.pod && stateOf(other) === 'up');
  const kept = new Set(others.flatMap(({ routes }) => routes));
  const lost = ownRoutes(pod).filter((route) => !kept.has(route));
  return (
    <div className="preview" role="status">
      <h3>What it would do</h3>
      <ul>
        <li>
          {pod.claimCount === 0
            ? 'It holds no runs.'
            : `${plural(pod.claimCount, 'run')} that it holds will go back to the fleet.`}
        </li>
        <li>
          {others.length === 0
            ? 'No other pod is up: nothing goes on until one comes.'
            : `${plural(others.length, 'other pod')} ${others.length === 1 ? 'is' : 'are'} up.`}
        </li>
        {pod.isLeader && <li>It leads: the next oldest takes over.</li>}
        {others.length > 0 && lost.length > 0 && (
          <li>
            <strong>No other pod has {lost.join(', ')}</strong>: runs of it would be blocked.
          </li>
        )}
        {stateOf(pod) !== 'up' && <li>It is not up: nothing would change.</li>}
      </ul>
    </div>
  );
}
