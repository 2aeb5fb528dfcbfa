/** The rows: as many as are near enough to be seen, of as many as were loaded. */
import { type KeyboardEvent, type RefObject, useEffect, useLayoutEffect, useRef } from 'react';
import { PhaseStrip } from '../../components/phase-strip.tsx';
import { Status } from '../../components/status.tsx';
import { Span, Time } from '../../components/time.tsx';
import { useIsNarrow } from '../../components/use-is-narrow.ts';
import { useVirtual } from '../../components/use-virtual.ts';
import { firstLine } from '../../format/words.ts';
import { Link } from '../../router/router.tsx';
import { useSession } from '../../services/session.tsx';
import type { Run } from '../../services/types.ts';

const ROW_HEIGHT = 36;
/** With a second line, where columns have no room. */
const ROW_HEIGHT_NARROW = 50;
const HEAD_HEIGHT = 32;
/** So many rows before the end the next page is asked for. */
const AHEAD = 40;

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
  const scroller = useRef<HTMLDivElement>(null);
  const rowHeight = useIsNarrow() ? ROW_HEIGHT_NARROW : ROW_HEIGHT;
  const { from, until, reveal } = useVirtual(scroller, {
    count: rows.length,
    rowHeight,
    headHeight: HEAD_HEIGHT,
  });
  useEffect(() => {
    if (until > rows.length - AHEAD) onNearEnd();
  }, [until, rows.length, onNearEnd]);
  const atId = rows[at]?.id;
  // biome-ignore lint/correctness/useExhaustiveDependencies: where it moves to by itself is not followed
  useEffect(() => {
    if (at < 0) return;
    reveal(at);
    // The row may only now be there.
    requestAnimationFrame(() =>
      scroller.current?.querySelector<HTMLElement>(`[data-index="${at}"] a`)?.focus(),
    );
  }, [atId, reveal]);
  useAnchor(scroller, rows, rowHeight);
  const isAll = rows.length > 0 && rows.every(({ id }) => selected.has(id));
  return (
    <section className="table-scroll" ref={scroller} tabIndex={0} aria-label="Runs, newest first">
      <table className="runs" aria-rowcount={rowCount ?? -1}>
        <thead>
          <tr>
            <th scope="col" className="col-select">
              <input
                type="checkbox"
                aria-label="Select all rows that are loaded"
                checked={isAll}
                onChange={props.onSelectAll}
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
          </tr>
        </thead>
        <tbody>
          <Spacer height={from * rowHeight} />
          {rows.slice(from, until).map((run, index) => (
            <Row key={run.id} run={run} index={from + index} {...props} />
          ))}
          <Spacer height={(rows.length - until) * rowHeight} />
        </tbody>
      </table>
    </section>
  );
}

/** What is being read stays where it is, whatever comes in above it; at the top it is let in. */
function useAnchor(
  scroller: RefObject<HTMLElement | null>,
  rows: readonly Run[],
  rowHeight: number,
): void {
  const before = useRef(rows);
  useLayoutEffect(() => {
    const element = scroller.current;
    const top = Math.floor((element?.scrollTop ?? 0) / rowHeight);
    const anchor = before.current[top];
    before.current = rows;
    if (!element || top === 0 || !anchor) return;
    const now = rows.findIndex(({ id }) => id === anchor.id);
    if (now >= 0 && now !== top) element.scrollTop += (now - top) * rowHeight;
  }, [scroller, rows, rowHeight]);
}

function Spacer({ height }: { height: number }) {
  if (height <= 0) return null;
  return (
    <tr aria-hidden="true">
      <td className="spacer" style={{ height }} />
    </tr>
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
