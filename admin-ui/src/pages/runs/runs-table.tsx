/** The rows: as many as are near enough to be seen, of as many as were loaded. */
import { PhaseStrip } from '../../components/phase-strip.tsx';
import { PickAll, type RowProps, RunRow, selectBySpace } from '../../components/pick.tsx';
import { Status } from '../../components/status.tsx';
import { Span, Time } from '../../components/time.tsx';
import { useIsNarrow } from '../../components/use-is-narrow.ts';
import type { Selection } from '../../components/use-selection.ts';
import { VirtualTable } from '../../components/virtual-table.tsx';
import { firstLine, triesOf } from '../../format/words.ts';
import { Link } from '../../router/router.tsx';
import { useSession } from '../../services/session.tsx';
import type { Run } from '../../services/types.ts';

const ROW_HEIGHT = 36;
/** With a second line, where columns have no room. */
const ROW_HEIGHT_NARROW = 50;
const HEAD_HEIGHT = 32;

interface TableProps {
  readonly rows: readonly Run[];
  readonly rowCount: number | undefined;
  readonly selection: Selection;
  readonly onNearEnd: () => void;
}

export function RunsTable({ rows, rowCount, selection, onNearEnd }: TableProps) {
  return (
    <VirtualTable
      label="Runs, newest first"
      className={['table-scroll', 'runs']}
      rows={rows}
      rowCount={rowCount}
      rowHeight={useIsNarrow() ? ROW_HEIGHT_NARROW : ROW_HEIGHT}
      headHeight={HEAD_HEIGHT}
      at={selection.at}
      isFocusing
      keyOf={idOf}
      onNearEnd={onNearEnd}
      head={<Head rows={rows} selection={selection} />}
      row={(run, index) => <Row run={run} index={index} selection={selection} />}
    />
  );
}

const idOf = ({ id }: Run) => id;

function Head({ rows, selection }: Pick<TableProps, 'rows' | 'selection'>) {
  return (
    <>
      <PickAll rows={rows} selection={selection} />
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

function Row({ run, index, selection }: RowProps) {
  const { podNames } = useSession();
  const tries = triesOf(run);
  const error = firstLine(run.error);
  return (
    <RunRow run={run} index={index} selection={selection}>
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
          onFocus={() => index !== selection.at && selection.setAt(index)}
          onKeyDown={(event) => selectBySpace(event, () => selection.toggle(run.id))}
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
    </RunRow>
  );
}
