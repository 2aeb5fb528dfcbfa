/** Limits, pauses or resumes a queue, or a machine: first what that means, then the act. */
import { type FormEvent, useMemo, useState } from 'react';
import { CopyButton } from '../../components/copy.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Refusal } from '../../components/panel.tsx';
import { ReasonField } from '../../components/reason-field.tsx';
import { toast } from '../../components/toast.tsx';
import { newRequestId } from '../../platform/clock.ts';
import { type ApiError, change } from '../../services/api.ts';
import type { Queue } from '../../services/fleet-types.ts';
import { asApiError } from '../../services/use-load.ts';
import { bodyOf, commandOf, type Effects, effectsOf, type What, type Wish } from './flow.ts';

/** What somebody is about to do; without a name they are asked for it. */
export interface Opened {
  readonly what: What;
  readonly name?: string | undefined;
}

interface DialogProps extends Opened {
  readonly queues: readonly Queue[];
  /** That can be named. */
  readonly machines: readonly string[];
  readonly onClose: () => void;
  readonly onDone: () => void;
}

const TITLE: Record<What, string> = {
  'queue.limit': 'Limit',
  'queue.pause': 'Pause',
  'queue.resume': 'Resume',
  'machine.pause': 'Pause',
  'machine.resume': 'Resume',
};
const DONE: Record<What, string> = {
  'queue.limit': 'has another limit',
  'queue.pause': 'is paused',
  'queue.resume': 'goes on',
  'machine.pause': 'is paused',
  'machine.resume': 'goes on',
};
const kindOf = (what: What) => (what.startsWith('queue') ? 'queue' : 'machine');

export function FlowDialog({ what, name, queues, machines, onClose, onDone }: DialogProps) {
  const [named, setNamed] = useState(name ?? '');
  const queue = kindOf(what) === 'queue' ? queues.find((row) => row.queue === named) : undefined;
  const [limit, setLimit] = useState(`${queue?.limit ?? ''}`);
  const [error, setError] = useState<ApiError>();
  const [isBusy, setBusy] = useState(false);
  const [reason, setReason] = useState('');
  const requestId = useMemo(newRequestId, []);
  const wish: Wish = { what, name: named, limit };
  const told = effectsOf(wish, queue);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (told.wrong !== undefined) return;
    setBusy(true);
    try {
      const { answer } = await change<{ readonly answer: 'done' | 'already' }>('POST', '/queues', {
        body: { ...bodyOf(wish), ...(reason === '' ? {} : { reason }) },
        requestId,
      });
      toast(answer === 'done' ? `${named} ${DONE[what]}` : 'There was nothing to change');
      onDone();
      onClose();
    } catch (thrown) {
      setError(asApiError(thrown));
      setBusy(false);
    }
  };
  const command = commandOf(wish);
  const title = name === undefined ? `${TITLE[what]} a ${kindOf(what)}` : `${TITLE[what]} ${name}`;
  return (
    <Dialog title={title} onClose={onClose}>
      <form onSubmit={submit} className="act">
        {name === undefined && <NameField {...{ what, named, queues, machines, setNamed }} />}
        {what === 'queue.limit' && <LimitField {...{ limit, setLimit, wrong: told.wrong }} />}
        <Preview told={told} />
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
          <button type="submit" className="danger" disabled={isBusy || told.wrong !== undefined}>
            {isBusy ? 'Working…' : what === 'queue.limit' ? 'Set the limit' : TITLE[what]}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

interface NameProps extends Pick<DialogProps, 'what' | 'queues' | 'machines'> {
  readonly named: string;
  readonly setNamed: (name: string) => void;
}

/** Known ones are offered; a queue need not be there yet. */
function NameField({ what, named, queues, machines, setNamed }: NameProps) {
  const kind = kindOf(what);
  const offers = kind === 'queue' ? queues.map(({ queue }) => queue) : machines;
  return (
    <label>
      Name of the {kind}
      <input
        list="flow-names"
        value={named}
        maxLength={500}
        autoComplete="off"
        onChange={(event) => setNamed(event.target.value)}
      />
      <datalist id="flow-names">
        {offers.map((offer) => (
          <option key={offer} value={offer} />
        ))}
      </datalist>
    </label>
  );
}

interface LimitProps {
  readonly limit: string;
  readonly setLimit: (limit: string) => void;
  readonly wrong: string | undefined;
}

function LimitField({ limit, setLimit, wrong }: LimitProps) {
  return (
    <label>
      Claimed at once, at most; empty for no limit
      <input
        inputMode="numeric"
        value={limit}
        aria-invalid={wrong !== undefined}
        onChange={(event) => setLimit(event.target.value)}
      />
    </label>
  );
}

function Preview({ told: { effects, wrong } }: { told: Effects }) {
  if (wrong !== undefined) {
    return (
      <p className="refusal" role="alert">
        {wrong}
      </p>
    );
  }
  return (
    <div className="preview" role="status">
      <h3>What it would do</h3>
      <ul>
        {effects.map((effect) => (
          <li key={effect}>{effect}</li>
        ))}
      </ul>
    </div>
  );
}
