/** Rows of the activity log; everything in them that can be followed is a link. */
import { useState } from 'react';
import { Dialog } from '../../components/dialog.tsx';
import { useKeys } from '../../components/keys.ts';
import { Time } from '../../components/time.tsx';
import { useIsNarrow } from '../../components/use-is-narrow.ts';
import { VirtualTable } from '../../components/virtual-table.tsx';
import { Link, usePlace, withQuery } from '../../router/router.tsx';
import type { AuditRow } from '../../services/many.ts';
import { Json } from '../run/context-panel.tsx';
import { type Note, noteOf } from './note.ts';
import '../../styles/acts.css';

const [ROW_HEIGHT, ROW_HEIGHT_NARROW, HEAD_HEIGHT] = [36, 50, 32];

interface ActivityTableProps {
  readonly rows: readonly AuditRow[];
  readonly isWhole: boolean;
  readonly keyOf: (row: AuditRow) => string;
  readonly onNearEnd: () => void;
}

export function ActivityTable({ rows, isWhole, keyOf, onNearEnd }: ActivityTableProps) {
  const [atKey, setAtKey] = useState<string>();
  const [open, setOpen] = useState<AuditRow>();
  const at = rows.findIndex((row) => keyOf(row) === atKey);
  const move = (step: number) => {
    const next = rows[Math.max(0, Math.min(rows.length - 1, at + step))];
    if (next) setAtKey(keyOf(next));
  };
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    ...(rows[at] ? { i: () => setOpen(rows[at]) } : {}),
  });
  return (
    <>
      <VirtualTable
        label="What people did, newest first"
        className={['table-scroll', 'runs activity']}
        rows={rows}
        rowCount={isWhole ? rows.length + 1 : undefined}
        rowHeight={useIsNarrow() ? ROW_HEIGHT_NARROW : ROW_HEIGHT}
        headHeight={HEAD_HEIGHT}
        at={at}
        isFocusing
        keyOf={keyOf}
        onNearEnd={onNearEnd}
        head={<Head />}
        row={(row, index) => (
          <Row row={row} index={index} isAt={index === at} onOpen={() => setOpen(row)} />
        )}
      />
      {open && (
        <Dialog title={`${open.what} by ${open.who}`} onClose={() => setOpen(undefined)}>
          <Json value={open} what="the row" />
        </Dialog>
      )}
    </>
  );
}

function Head() {
  return (
    <>
      <th scope="col" className="col-when">
        When
      </th>
      <th scope="col" className="col-actor">
        Who
      </th>
      <th scope="col" className="col-deed">
        What
      </th>
      <th scope="col" className="col-task">
        To what
      </th>
      <th scope="col" className="col-note">
        What it changed
      </th>
      <th scope="col" className="col-via">
        By way of
      </th>
      <th scope="col" className="col-inspect">
        <span className="offscreen">All of it</span>
      </th>
    </>
  );
}

interface RowProps {
  readonly row: AuditRow;
  readonly index: number;
  readonly isAt: boolean;
  readonly onOpen: () => void;
}

function Row({ row, index, isAt, onOpen }: RowProps) {
  const place = usePlace();
  const note = noteOf(row.what, row.detail);
  return (
    <tr data-index={index} data-current={isAt || undefined} aria-rowindex={index + 2}>
      <td className="col-when">
        <Time at={row.at} />
      </td>
      <td className="col-actor">
        <Link to={withQuery(place, { who: row.who })} title={`Only what ${row.who} did`}>
          {row.who}
        </Link>
        <span className="second-line">{note.text}</span>
      </td>
      <td className="col-deed">
        <Link to={withQuery(place, { what: row.what })} title={`Only ${row.what}`}>
          {row.what}
        </Link>
      </td>
      <td className="col-task">
        <Target row={row} note={note} />
      </td>
      <td className="col-note" title={note.text}>
        {note.text}
      </td>
      <td className="col-via quiet" title={note.via}>
        {note.bulk !== undefined && row.task !== undefined ? (
          <Link to={`/bulk/${encodeURIComponent(note.bulk)}`}>bulk …{note.bulk.slice(-8)}</Link>
        ) : (
          note.via
        )}
      </td>
      <td className="col-inspect">
        <button
          type="button"
          className="small ghost"
          aria-label={`All of ${row.what} by ${row.who}`}
          title="All of it (i)"
          onClick={onOpen}
        >
          ›
        </button>
      </td>
    </tr>
  );
}

function Target({ row: { task }, note }: { row: AuditRow; note: Note }) {
  if (task !== undefined) {
    return (
      <Link to={`/runs/${encodeURIComponent(task)}`} title={task} className="mono">
        …{task.slice(-8)}
      </Link>
    );
  }
  if (note.bulk === undefined) return <span className="quiet">–</span>;
  return (
    <Link to={`/bulk/${encodeURIComponent(note.bulk)}`} title={note.bulk}>
      many runs
    </Link>
  );
}
