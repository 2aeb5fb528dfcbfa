/** Under a list: whether these are all, and what there is beyond. */
import { Time } from '../../components/time.tsx';
import { showCount } from '../../format/words.ts';
import type { RunCount } from '../../services/types.ts';
import { ROWS_MAX, type Rows } from './use-runs.ts';

export function Count({ count }: { count: RunCount | undefined }) {
  if (!count) return null;
  return (
    <span className="count number">
      {count.isExact ? '' : '≥ '}
      {showCount(count.count)}
    </span>
  );
}

export function ListFoot({ rows, cursor, error, lookedBackTo, reload }: Rows) {
  return (
    <p className="list-foot quiet">
      {error ? (
        <>
          {error.message}.{' '}
          <button type="button" className="small" onClick={reload}>
            Try again
          </button>
        </>
      ) : rows.length >= ROWS_MAX ? (
        `The newest ${showCount(ROWS_MAX)} are shown: ` +
        'press in the histogram, or filter, to get further back.'
      ) : lookedBackTo !== undefined ? (
        <>
          Looked back to <Time at={lookedBackTo} /> in the time there was.
        </>
      ) : cursor === undefined ? (
        `${showCount(rows.length)} shown, these are all.`
      ) : (
        `${showCount(rows.length)} loaded, more follow as you scroll.`
      )}
    </p>
  );
}
