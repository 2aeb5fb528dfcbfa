/** The records, newest last, each with the sentence that says why. As many as are near to be seen. */
import { useMemo, useState } from 'react';
import { useKeys } from '../../components/keys.ts';
import { VirtualTable } from '../../components/virtual-table.tsx';
import { showClock, showSpan } from '../../format/time.ts';
import { useSettings } from '../../platform/settings.ts';
import type { RunRecord } from '../../services/types.ts';
import { countText, FAILURES, whyOf } from './why.ts';

const ROW_HEIGHT = 30;

interface EventLogProps {
  readonly records: readonly RunRecord[];
  readonly at: number | undefined;
  /** Else it is the last one, whichever that is. */
  readonly isPicked: boolean;
  readonly onAt: (seq: number) => void;
  readonly podName: (pod: string) => string;
}

export function EventLog({ records, at, isPicked, onAt, podName }: EventLogProps) {
  const [isFew, setFew] = useState(false);
  const shown = useMemo(
    () => (isFew ? records.filter(({ event }) => FAILURES.includes(event.type)) : records),
    [records, isFew],
  );
  const index = shown.findIndex(({ seq }) => seq === at);
  const move = (step: number) => {
    const start = index < 0 ? (step > 0 ? -1 : shown.length) : index;
    const next = shown[Math.max(0, Math.min(shown.length - 1, start + step))];
    if (next) onAt(next.seq);
  };
  useKeys({ j: () => move(1), k: () => move(-1) });
  return (
    <>
      <VirtualTable
        // Other rows: the one that is chosen is looked for again.
        key={`${isFew}`}
        label="Event log"
        className={['log', '']}
        rows={shown}
        rowCount={shown.length + 1}
        rowHeight={ROW_HEIGHT}
        headHeight={ROW_HEIGHT}
        at={index}
        isFollowing={!isPicked}
        keyOf={seqOf}
        head={<Head />}
        row={(record, rowIndex) => (
          <Row
            record={record}
            before={records[record.seq - 1]}
            index={rowIndex}
            isAt={record.seq === at}
            onAt={onAt}
            podName={podName}
          />
        )}
      />
      <div className="timeline-foot quiet">
        <span>{countText(shown.length, records.length)}</span>
        <label className="check">
          <input
            type="checkbox"
            checked={isFew}
            onChange={(event) => setFew(event.target.checked)}
          />
          Only what went wrong
        </label>
      </div>
    </>
  );
}

const seqOf = ({ seq }: RunRecord) => seq;

function Head() {
  return (
    <>
      <th scope="col" className="log-seq">
        #
      </th>
      <th scope="col" className="log-time">
        Time
      </th>
      <th scope="col" className="log-after">
        After
      </th>
      <th scope="col" className="log-type">
        Event
      </th>
      <th scope="col">Why</th>
    </>
  );
}

interface RowProps {
  readonly record: RunRecord;
  readonly before: RunRecord | undefined;
  readonly index: number;
  readonly isAt: boolean;
  readonly onAt: (seq: number) => void;
  readonly podName: (pod: string) => string;
}

function Row({ record, before, index, isAt, onAt, podName }: RowProps) {
  const { times } = useSettings();
  const { seq, at, event } = record;
  const why = whyOf(record, { before, podName });
  return (
    <tr
      data-index={index}
      data-current={isAt || undefined}
      data-type={event.type}
      aria-rowindex={index + 2}
    >
      <td className="log-seq number">{seq}</td>
      <td className="log-time number">{showClock(at, times)}</td>
      <td className="log-after number quiet">{before ? `+${showSpan(at - before.at)}` : ''}</td>
      <td className="log-type">
        <button type="button" className="ghost small" aria-pressed={isAt} onClick={() => onAt(seq)}>
          {event.type}
        </button>
      </td>
      <td className="log-why" title={why}>
        {why}
      </td>
    </tr>
  );
}
