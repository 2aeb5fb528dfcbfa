/** What is, or was, done to many runs at once: newest first, those under way as they go. */
import { useState } from 'react';
import { useKeys } from '../../components/keys.ts';
import { LiveBadge } from '../../components/live-badge.tsx';
import { PagesFoot } from '../../components/pages-foot.tsx';
import { Boundary, Loading, Refusal } from '../../components/panel.tsx';
import { Time } from '../../components/time.tsx';
import { useIsNarrow } from '../../components/use-is-narrow.ts';
import { useTitle } from '../../components/use-title.ts';
import { VirtualTable } from '../../components/virtual-table.tsx';
import { plural, showCount } from '../../format/words.ts';
import { Link } from '../../router/router.tsx';
import { queryText } from '../../services/api.ts';
import type { Bulk, BulkPage } from '../../services/many.ts';
import { useFresh } from '../../services/use-fresh.ts';
import { usePages } from '../../services/use-pages.ts';
import { deedText, isMoving } from './bulk-words.ts';
import { BulkState, howFar, ProgressBar } from './progress.tsx';
import '../../styles/bulk.css';
import '../../styles/lists.css';

const [ROW_HEIGHT, ROW_HEIGHT_NARROW, HEAD_HEIGHT] = [36, 50, 32];

const pathOf = (cursor: string | undefined) => `/bulk${queryText({ cursor, limit: 100 })}`;
const read = ({ bulks, cursor }: BulkPage) => ({ rows: bulks, cursor });
const idOf = ({ id }: Bulk) => id;

export function BulksPage() {
  useTitle('Bulk operations');
  const pages = usePages<BulkPage, Bulk>('bulk', { path: pathOf, read, keyOf: idOf });
  useFresh(pages.reload, { isMoving: pages.rows.some(isMoving) });
  const [atId, setAtId] = useState<string>();
  const at = pages.rows.findIndex(({ id }) => id === atId);
  const move = (step: number) =>
    setAtId(pages.rows[Math.max(0, Math.min(pages.rows.length - 1, at + step))]?.id);
  useKeys({ j: () => move(1), k: () => move(-1) });
  return (
    <main className="runs-page">
      <header className="page-head">
        <h1>Bulk operations</h1>
        <LiveBadge />
      </header>
      <Boundary name="The list">
        {pages.rows.length > 0 ? (
          <Table pages={pages} at={at} onAt={setAtId} />
        ) : pages.error ? (
          <Refusal error={pages.error} onAgain={pages.reload} />
        ) : pages.isLoading ? (
          <Loading what="bulk operations" />
        ) : (
          <Nothing />
        )}
      </Boundary>
    </main>
  );
}

function Nothing() {
  return (
    <div className="nothing">
      <p>
        <strong>Nothing was done to many runs at once yet.</strong>
      </p>
      <p className="quiet">
        Select rows of the <Link to="/runs">runs</Link>, or redrive what is among the{' '}
        <Link to="/dead-letters">dead letters</Link>.
      </p>
    </div>
  );
}

interface TableProps {
  readonly pages: ReturnType<typeof usePages<BulkPage, Bulk>>;
  readonly at: number;
  readonly onAt: (id: string) => void;
}

function Table({ pages, at, onAt }: TableProps) {
  const { rows, cursor, more } = pages;
  return (
    <>
      <VirtualTable
        label="Bulk operations, newest first"
        className={['table-scroll', 'runs bulks']}
        rows={rows}
        rowCount={cursor === undefined ? rows.length + 1 : undefined}
        rowHeight={useIsNarrow() ? ROW_HEIGHT_NARROW : ROW_HEIGHT}
        headHeight={HEAD_HEIGHT}
        at={at}
        isFocusing
        keyOf={idOf}
        onNearEnd={more}
        head={<Head />}
        row={(bulk, index) => <Row bulk={bulk} index={index} isAt={index === at} onAt={onAt} />}
      />
      <PagesFoot {...pages} />
    </>
  );
}

function Head() {
  return (
    <>
      <th scope="col" className="col-state">
        Status
      </th>
      <th scope="col" className="col-what">
        What
      </th>
      <th scope="col" className="col-filter">
        Which runs
      </th>
      <th scope="col" className="col-progress">
        Progress
      </th>
      <th scope="col" className="col-refused">
        Refused
      </th>
      <th scope="col" className="col-who">
        By
      </th>
      <th scope="col" className="col-created">
        Begun
      </th>
    </>
  );
}

interface RowProps {
  readonly bulk: Bulk;
  readonly index: number;
  readonly isAt: boolean;
  readonly onAt: (id: string) => void;
}

function Row({ bulk, index, isAt, onAt }: RowProps) {
  return (
    <tr data-index={index} data-current={isAt || undefined} aria-rowindex={index + 2}>
      <td className="col-state">
        <BulkState bulk={bulk} />
      </td>
      <td className="col-what">
        <Link
          to={`/bulk/${encodeURIComponent(bulk.id)}`}
          title={bulk.id}
          onFocus={() => onAt(bulk.id)}
        >
          {deedText(bulk)}
        </Link>
        <span className="second-line">{bulk.filter}</span>
      </td>
      <td className="col-filter" title={bulk.filter}>
        <code>{bulk.filter}</code>
      </td>
      <td className="col-progress">
        <ProgressBar bulk={bulk} />
        <span className="quiet number">{howFar(bulk)}</span>
      </td>
      <td className="col-refused number">
        {bulk.refused > 0 ? (
          <span className="bad" title={plural(bulk.refused, 'refusal')}>
            {showCount(bulk.refused)}
          </span>
        ) : (
          <span className="quiet">–</span>
        )}
      </td>
      <td className="col-who" title={`${bulk.who} via ${bulk.via}`}>
        {bulk.who}
      </td>
      <td className="col-created">
        <Time at={bulk.createdAt} />
      </td>
    </tr>
  );
}
