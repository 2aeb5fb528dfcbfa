/** Dead letters as rows: where each fell, why it was given up, and what it said. */
import { PhaseStrip } from '../../components/phase-strip.tsx';
import { PickAll, type RowProps, RunRow, selectBySpace } from '../../components/pick.tsx';
import { Time } from '../../components/time.tsx';
import { useIsNarrow } from '../../components/use-is-narrow.ts';
import type { Selection } from '../../components/use-selection.ts';
import { VirtualTable } from '../../components/virtual-table.tsx';
import { firstLine, triesOf } from '../../format/words.ts';
import { Link } from '../../router/router.tsx';
import type { Run } from '../../services/types.ts';

const [ROW_HEIGHT, ROW_HEIGHT_NARROW, HEAD_HEIGHT] = [36, 50, 32];

/** Why it is tried no more. */
const OUTCOME: Readonly<Record<string, string>> = {
  exhausted: 'gave up',
  aborted: 'aborted',
  timedOut: 'timed out',
  crashLoop: 'crash loop',
};

export const outcomeText = (outcome: string | undefined) =>
  outcome === undefined ? 'failed' : (OUTCOME[outcome] ?? outcome);

interface LettersTableProps {
  readonly rows: readonly Run[];
  readonly rowCount: number | undefined;
  readonly selection: Selection;
  readonly inspected: string | undefined;
  readonly onInspect: (id: string) => void;
  readonly onNearEnd: () => void;
}

export function LettersTable(props: LettersTableProps) {
  const { rows, rowCount, selection, inspected, onInspect, onNearEnd } = props;
  return (
    <VirtualTable
      label="Dead letters, newest first"
      className={['table-scroll', 'runs letters']}
      rows={rows}
      rowCount={rowCount}
      rowHeight={useIsNarrow() ? ROW_HEIGHT_NARROW : ROW_HEIGHT}
      headHeight={HEAD_HEIGHT}
      at={selection.at}
      isFocusing
      keyOf={idOf}
      onNearEnd={onNearEnd}
      head={<Head rows={rows} selection={selection} />}
      row={(run, index) => (
        <Row
          run={run}
          index={index}
          selection={selection}
          isInspected={run.id === inspected}
          onInspect={onInspect}
        />
      )}
    />
  );
}

const idOf = ({ id }: Run) => id;

function Head({ rows, selection }: Pick<LettersTableProps, 'rows' | 'selection'>) {
  return (
    <>
      <PickAll rows={rows} selection={selection} />
      <th scope="col" className="col-strip">
        Phase
      </th>
      <th scope="col" className="col-why">
        Why
      </th>
      <th scope="col" className="col-machine">
        Machine
      </th>
      <th scope="col" className="col-key">
        Key
      </th>
      <th scope="col" className="col-attempt" title="Attempts of its last phase">
        Tries
      </th>
      <th scope="col" className="col-created">
        Failed
      </th>
      <th scope="col" className="col-error">
        Error
      </th>
      <th scope="col" className="col-inspect">
        <span className="offscreen">Inspect</span>
      </th>
    </>
  );
}

interface LetterRowProps extends RowProps {
  readonly isInspected: boolean;
  readonly onInspect: (id: string) => void;
}

function Row({ run, index, selection, isInspected, onInspect }: LetterRowProps) {
  const error = firstLine(run.error);
  const tries = triesOf(run);
  return (
    <RunRow run={run} index={index} selection={selection}>
      <td className="col-strip">
        <PhaseStrip run={run} />
      </td>
      <td className="col-why">{outcomeText(run.outcome)}</td>
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
      <td className="col-created">
        <Time at={run.finishedAt ?? run.updatedAt} />
      </td>
      <td className="col-error" title={error}>
        {error ?? <span className="quiet">it said nothing</span>}
      </td>
      <td className="col-inspect">
        <button
          type="button"
          className="small ghost"
          aria-expanded={isInspected}
          aria-label={`Inspect ${run.machine} ${run.id}`}
          title="Inspect (i)"
          onClick={() => onInspect(run.id)}
        >
          ›
        </button>
      </td>
    </RunRow>
  );
}
