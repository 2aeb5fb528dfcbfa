/** A table of as many rows as one likes, of which those are there that are near enough to be seen. */
import {
  Fragment,
  type ReactNode,
  type RefObject,
  useEffect,
  useLayoutEffect,
  useRef,
} from 'react';
import { useVirtual } from './use-virtual.ts';

/** So many rows before the end the next page is asked for. */
const AHEAD = 40;
/** The end counts as seen from here: who turns to it while rows pour in lands a little short of it. */
const ROWS_SHORT = 3;

interface VirtualTableProps<R> {
  /** What the list is, for those who hear it. */
  readonly label: string;
  /** Of the frame that scrolls, and of the table in it. */
  readonly className: readonly [frame: string, table: string];
  readonly rows: readonly R[];
  /** How many there are in all, where that is known. */
  readonly rowCount: number | undefined;
  /** All rows have one height, and the style sheet gives them the same. */
  readonly rowHeight: number;
  readonly headHeight: number;
  /** The row to be seen, and whether its first link or button is to have the focus. */
  readonly at: number;
  readonly isFocusing?: boolean;
  /** It is the end, and comes to be seen only where the end was seen before. */
  readonly isFollowing?: boolean;
  readonly head: ReactNode;
  /** A `tr` with `data-index`. */
  readonly row: (row: R, index: number) => ReactNode;
  readonly keyOf: (row: R) => string | number;
  readonly onNearEnd?: (() => void) | undefined;
}

export function VirtualTable<R>(props: VirtualTableProps<R>) {
  const {
    rows,
    at,
    rowHeight,
    headHeight,
    keyOf,
    onNearEnd,
    isFocusing = false,
    isFollowing = false,
  } = props;
  const scroller = useRef<HTMLElement>(null);
  const { from, until, reveal } = useVirtual(scroller, {
    count: rows.length,
    rowHeight,
    headHeight,
  });
  // With all rows that come anew: who was asked while they came may not have listened.
  useEffect(() => {
    if (until > rows.length - AHEAD) onNearEnd?.();
  }, [until, rows, onNearEnd]);
  const atKey = rows[at] && keyOf(rows[at]);
  const wanted = useRef(-1);
  const seenUntil = useRef(-1);
  // biome-ignore lint/correctness/useExhaustiveDependencies: where it moves to by itself is not followed
  useLayoutEffect(() => {
    if (at < 0) return;
    const end = (seenUntil.current - ROWS_SHORT) * rowHeight + headHeight;
    seenUntil.current = at;
    if (isFollowing && !isInSight(scroller.current, end)) return;
    reveal(at);
    if (isFocusing) wanted.current = at;
  }, [atKey, reveal]);
  // With what is shown, so that Enter right after j opens that row; one far away comes with a later render.
  useLayoutEffect(() => {
    const row = scroller.current?.querySelector(`[data-index="${wanted.current}"]`);
    if (!row) return;
    wanted.current = -1;
    if (!row.contains(document.activeElement)) row.querySelector<HTMLElement>('a')?.focus();
  });
  useAnchor(scroller, { rows, rowHeight, keyOf });
  const [frame, table] = props.className;
  return (
    <section className={frame} ref={scroller} tabIndex={0} aria-label={props.label}>
      <table className={table} aria-rowcount={props.rowCount ?? -1}>
        <thead>
          <tr>{props.head}</tr>
        </thead>
        <tbody>
          <Spacer height={from * rowHeight} />
          {rows.slice(from, until).map((row, index) => (
            <Fragment key={keyOf(row)}>{props.row(row, from + index)}</Fragment>
          ))}
          <Spacer height={(rows.length - until) * rowHeight} />
        </tbody>
      </table>
    </section>
  );
}

function isInSight(element: HTMLElement | null, y: number): boolean {
  return element !== null && y <= element.scrollTop + element.clientHeight;
}

type Anchored<R> = Pick<VirtualTableProps<R>, 'rows' | 'rowHeight' | 'keyOf'>;

/** What is being read stays where it is, whatever comes in above it; at the top it is let in. */
function useAnchor<R>(
  scroller: RefObject<HTMLElement | null>,
  { rows, rowHeight, keyOf }: Anchored<R>,
): void {
  const before = useRef(rows);
  const key = useRef(keyOf);
  key.current = keyOf;
  useLayoutEffect(() => {
    const element = scroller.current;
    const top = Math.floor((element?.scrollTop ?? 0) / rowHeight);
    const anchor = before.current[top];
    before.current = rows;
    if (!element || top === 0 || !anchor) return;
    const wanted = key.current(anchor);
    // Mostly nothing has moved.
    if (rows[top] && key.current(rows[top]) === wanted) return;
    const now = rows.findIndex((row) => key.current(row) === wanted);
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
