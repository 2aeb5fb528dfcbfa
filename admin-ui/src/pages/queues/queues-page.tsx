/** Queues, their limits, and what stands still: a queue, or a machine in all of them. */
import { useMemo, useRef, useState } from 'react';
import { useKeys } from '../../components/keys.ts';
import { LiveBadge } from '../../components/live-badge.tsx';
import { Boundary, Loading, Refusal } from '../../components/panel.tsx';
import { useTitle } from '../../components/use-title.ts';
import { showCount } from '../../format/words.ts';
import { go, usePlace, withQuery } from '../../router/router.tsx';
import { get } from '../../services/api.ts';
import type { MachineRow, Queue, Queues } from '../../services/fleet-types.ts';
import { useMayDo } from '../../services/session.tsx';
import { useBeat } from '../../services/use-beat.ts';
import { useLoad } from '../../services/use-load.ts';
import type { What } from './flow.ts';
import { FlowDialog, type Opened } from './flow-dialog.tsx';
import { PausedMachines } from './paused-machines.tsx';
import { QueuesTable } from './queues-table.tsx';
import '../../styles/acts.css';
import '../../styles/fleet.css';
import '../../styles/throttles.css';
import '../../styles/queues.css';

const BEAT_MS = 3_000;
const SHOWN_MAX = 200;
/** So few are seen at once. */
const FIND_FROM = 10;

export function QueuesPage() {
  useTitle('Queues');
  const { data, error, reload } = useLoad('queues', (signal) => get<Queues>('/queues', signal));
  useBeat(BEAT_MS, reload);
  const [opened, setOpened] = useState<Opened>();
  const mayOperate = useMayDo('operate');
  const onWish = (what: What, name?: string) => setOpened({ what, name });
  const wanted = usePlace().query.get('find') ?? '';
  const found = (data?.queues ?? []).filter(({ queue }) => holds(queue, wanted));
  return (
    <main className="fleet-page">
      <header className="page-head">
        <h1>Queues</h1>
        {data && <span className="count number">{showCount(data.queues.length)}</span>}
        {((data?.queues.length ?? 0) >= FIND_FROM || wanted !== '') && <Find wanted={wanted} />}
        {mayOperate && data && (
          <button type="button" onClick={() => onWish('queue.limit')}>
            Limit a queue
          </button>
        )}
        <LiveBadge />
      </header>
      <Boundary name="The queues">
        {error && !data ? (
          <Refusal error={error} onAgain={reload} />
        ) : !data ? (
          <Loading what="the queues" />
        ) : (
          <>
            <Listed {...{ found, wanted, mayOperate, onWish }} />
            <PausedMachines machines={data.pausedMachines} {...{ mayOperate, onWish }} />
          </>
        )}
      </Boundary>
      {opened && data && (
        <Deed opened={opened} data={data} onClose={() => setOpened(undefined)} onDone={reload} />
      )}
    </main>
  );
}

const holds = (name: string, part: string) => name.toLowerCase().includes(part.toLowerCase());

interface ListedProps {
  readonly found: readonly Queue[];
  readonly wanted: string;
  readonly mayOperate: boolean;
  readonly onWish: (what: What, name?: string) => void;
}

function Listed({ found, wanted, mayOperate, onWish }: ListedProps) {
  if (found.length === 0) {
    return (
      <div className="nothing panel">
        <strong>
          {wanted === ''
            ? 'Nothing is in a queue, and none has a limit.'
            : 'No queue is called so.'}
        </strong>
        {wanted === '' && (
          <p>
            A task is put into one with <code>enqueue(…, {"{ queue: 'reports' }"})</code>
          </p>
        )}
      </div>
    );
  }
  return (
    <>
      <QueuesTable queues={found.slice(0, SHOWN_MAX)} {...{ mayOperate, onWish }} />
      {found.length > SHOWN_MAX && (
        <p className="list-foot">
          And {showCount(found.length - SHOWN_MAX)} more: find them by their names.
        </p>
      )}
    </>
  );
}

/** In the address, so that a link shows others the same. */
function Find({ wanted }: { wanted: string }) {
  const place = usePlace();
  const field = useRef<HTMLInputElement>(null);
  useKeys({ '/': () => field.current?.focus() });
  return (
    <input
      ref={field}
      type="search"
      className="find"
      aria-label="Find queues"
      placeholder="Find queues"
      value={wanted}
      onChange={(event) => go(withQuery(place, { find: event.target.value }), 'replace')}
    />
  );
}

interface DeedProps {
  readonly opened: Opened;
  readonly data: Queues;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

function Deed({ opened, data, onClose, onDone }: DeedProps) {
  const isAsked = opened.what === 'machine.pause';
  const known = useLoad(isAsked ? 'machines' : undefined, (signal) =>
    get<{ machines: MachineRow[] }>('/machines', signal),
  );
  const machines = useMemo(
    () => [...new Set((known.data?.machines ?? []).map(({ name }) => name))],
    [known.data],
  );
  return <FlowDialog {...opened} queues={data.queues} {...{ machines, onClose, onDone }} />;
}
