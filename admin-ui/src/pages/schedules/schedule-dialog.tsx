/** Runs, pauses, resumes or removes a schedule: the server says first what would become of it. */
import { type FormEvent, useMemo, useState } from 'react';
import { CopyButton } from '../../components/copy.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Loading, Refusal } from '../../components/panel.tsx';
import { ReasonField } from '../../components/reason-field.tsx';
import { Time } from '../../components/time.tsx';
import { toast } from '../../components/toast.tsx';
import { newRequestId } from '../../platform/clock.ts';
import { type ApiError, change } from '../../services/api.ts';
import type { Schedule } from '../../services/fleet-types.ts';
import { asApiError, useLoad } from '../../services/use-load.ts';
import { shellWord } from '../throttles/throttle-words.ts';
import { pathOf } from './schedule-words.ts';

export type Order = 'run' | 'pause' | 'resume' | 'remove';

interface DialogProps {
  readonly schedule: Schedule;
  readonly order: Order;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

interface Changed {
  readonly kind: 'done' | 'already' | 'ignored';
  readonly schedule: Schedule;
}

const TITLE: Record<Order, string> = {
  run: 'Run',
  pause: 'Pause',
  resume: 'Resume',
  remove: 'Remove',
};
const DONE: Record<Order, string> = {
  run: 'has a run',
  pause: 'is paused',
  resume: 'goes on',
  remove: 'is removed',
};

export function ScheduleDialog({ schedule, order, onClose, onDone }: DialogProps) {
  const { name } = schedule;
  const [error, setError] = useState<ApiError>();
  const [isBusy, setBusy] = useState(false);
  const [reason, setReason] = useState('');
  const requestId = useMemo(newRequestId, []);
  const path = `${pathOf(name)}/${order}`;
  const tried = useLoad(path, (signal) =>
    change<Changed>('POST', path, { body: { dryRun: true }, signal }),
  );
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    try {
      const body = reason === '' ? {} : { reason };
      const { kind } = await change<Changed>('POST', path, { body, requestId });
      toast(kind === 'done' ? `${name} ${DONE[order]}` : 'There was nothing to change');
      onDone();
      onClose();
    } catch (thrown) {
      setError(asApiError(thrown));
      setBusy(false);
    }
  };
  const command = `fleetq schedules ${order} ${shellWord(name)}`;
  return (
    <Dialog title={`${TITLE[order]} ${name}`} onClose={onClose}>
      <form onSubmit={submit} className="act">
        {tried.error ? (
          <Refusal error={tried.error} />
        ) : tried.data ? (
          <Effects order={order} now={schedule} then={tried.data} />
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
          <button type="submit" className="danger" disabled={isBusy || !tried.data}>
            {isBusy ? 'Working…' : TITLE[order]}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

function Effects({ order, now, then }: { order: Order; now: Schedule; then: Changed }) {
  const [was] = now.next;
  const [will] = then.schedule.next;
  return (
    <div className="preview" role="status">
      <h3>What it would do</h3>
      <ul>
        {then.kind === 'already' && <li>Nothing: it is so already.</li>}
        {order === 'resume' && will !== undefined && (
          <li>
            It goes on with its tick <Time at={will} />; those of the time between are left out.
          </li>
        )}
        {order === 'run' && (
          <>
            <li>One run of {now.machine} is put in at once, with its input.</li>
            <li>Its ticks stay as they are.</li>
          </>
        )}
        {(order === 'pause' || order === 'remove') && (
          <>
            <li>
              No tick is put in any more
              {was === undefined ? (
                '.'
              ) : (
                <>
                  ; the next one was to come <Time at={was} />.
                </>
              )}
            </li>
            <li>Runs that it has put in go on.</li>
          </>
        )}
        {order === 'remove' && (
          <li>
            Code that declares it does not bring it back: <code>fleetq schedules set</code> does.
          </li>
        )}
      </ul>
    </div>
  );
}
