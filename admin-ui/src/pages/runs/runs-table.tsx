/** The rows: as many as are near enough to be seen, of as many as were loaded. */
import type { KeyboardEvent } from 'react';
import { PhaseStrip } from '../../components/phase-strip.tsx';
import { Status } from '../../components/status.tsx';
import { Span, Time } from '../../components/time.tsx';
import { useIsNarrow } from '../../components/use-is-narrow.ts';
import { VirtualTable } from '../../components/virtual-table.tsx';
import { firstLine } from '../../format/words.ts';
import { Link } from '../../router/router.tsx';
import { useSession } from '../../services/session.tsx';
import type { Run } from '../../services/types.ts';

const ROW_HEIGHT = 36;
/** With a second line, where columns have no room. */
const ROW_HEIGHT_NARROW = 50;
const HEAD_HEIGHT = 32;

export interface TableProps {
  readonly rows: readonly Run[];
  readonly rowCount: number | undefined;
  readonly at: number;
  readonly selected: ReadonlySet<string>;
  readonly onAt: (index: number) => void;
  readonly onSelect: (id: string) => void;
  readonly onSelectAll: () => void;
  readonly onNearEnd: () => void;
}

export function RunsTable(props: TableProps) {
  const { rows, rowCount, at, selected, onNearEnd } = props;
  const isAll = rows.length > 0 && rows.every(({ id }) => selected.has(id));
  return (
    <VirtualTable
      label="Runs, newest first"
      className={['table-scroll', 'runs']}
      rows={rows}
      rowCount={rowCount}
      rowHeight={useIsNarrow() ? ROW_HEIGHT_NARROW : ROW_HEIGHT}
      headHeight={HEAD_HEIGHT}
      at={at}
      isFocusing
      keyOf={idOf}
      onNearEnd={onNearEnd}
      head={<Head isAll={isAll} onSelectAll={props.onSelectAll} />}
      row={(run, index) => <Row run={run} index={index} {...props} />}
    />
  );
}

const idOf = ({ id }: Run) => id;

function Head({ isAll, onSelectAll }: { isAll: boolean; onSelectAll: () => void }) {
  return (
    <>
      <th scope="col" className="col-select">
        <input
          type="checkbox"
          aria-label="Select all rows that are loaded"
          checked={isAll}
          onChange={onSelectAll}
        />
      </th>
      <th scope="col" className="col-strip">
        Phase
      </th>
      <th scope="col" className="col-status">
        Status
      </th>
      <th scope="col" className="col-machine">
        Machine
      </th>
      <th scope="col" className="col-key">
        Key
      </th>
      <th scope="col" className="col-attempt" title="Retries">
        Tries
      </th>
      <th scope="col" className="col-pod">
        Pod
      </th>
      <th scope="col" className="col-created">
        Created
      </th>
      <th scope="col" className="col-span">
        Took
      </th>
      <th scope="col" className="col-error">
        Error
      </th>
    </>
  );
}

function Row({
  run,
  index,
  at,
  selected,
  onAt,
  onSelect,
}: TableProps & { run: Run; index: number }) {
  const { podNames } = useSession();
  const isSelected = selected.has(run.id);
  const tries = run.attempt ?? (run.retries ?? 0) + 1;
  const error = firstLine(run.error);
  const select = (event: KeyboardEvent) => {
    if (event.key !== ' ') return;
    event.preventDefault();
    onSelect(run.id);
  };
  return (
    <tr
      data-index={index}
      data-current={index === at || undefined}
      data-selected={isSelected || undefined}
      aria-rowindex={index + 2}
    >
      <td className="col-select">
        <input
          type="checkbox"
          aria-label={`Select ${run.machine} ${run.id}`}
          checked={isSelected}
          onChange={() => onSelect(run.id)}
        />
      </td>
      <td className="col-strip">
        <PhaseStrip run={run} />
      </td>
      <td className="col-status">
        <Status run={run} />
      </td>
      <td className="col-machine">
        <Link
          to={`/runs/${encodeURIComponent(run.id)}`}
          title={run.id}
          onFocus={() => index !== at && onAt(index)}
          onKeyDown={select}
        >
          {run.machine}
        </Link>
        <span className="quiet">@{run.version}</span>
        <span className="second-line">{error ?? run.key ?? `…${run.id.slice(-8)}`}</span>
      </td>
      <td className="col-key" title={run.key ?? run.id}>
        {run.key ?? <span className="quiet mono">…{run.id.slice(-8)}</span>}
      </td>
      <td className="col-attempt number">
        {tries > 1 ? <span className="tries">{tries}</span> : <span className="quiet">1</span>}
      </td>
      <td className="col-pod" title={run.pod}>
        {run.pod === undefined ? (
          <span className="quiet">–</span>
        ) : (
          (podNames.get(run.pod) ?? `…${run.pod.slice(-6)}`)
        )}
      </td>
      <td className="col-created">
        <Time at={run.createdAt} />
      </td>
      <td className="col-span">
        <Span from={run.startedAt ?? run.createdAt} until={run.finishedAt} />
      </td>
      <td className="col-error" title={error}>
        {error ?? (run.blocked !== undefined ? <span className="quiet">{run.blocked}</span> : '')}
      </td>
    </tr>
  );
}
