/** Under a list that comes in pages: whether these are all. */
import { showCount } from '../format/words.ts';
import type { Pages } from '../services/use-pages.ts';

type Told = Pick<Pages<unknown>, 'rows' | 'cursor' | 'error' | 'reload'>;

export function PagesFoot({ rows, cursor, error, reload }: Told) {
  const rest =
    cursor === undefined ? 'shown, these are all.' : 'loaded, more follow as you scroll.';
  return (
    <p className="list-foot quiet">
      {error ? (
        <>
          {error.message}.{' '}
          <button type="button" className="small" onClick={reload}>
            Try again
          </button>
        </>
      ) : (
        `${showCount(rows.length)} ${rest}`
      )}
    </p>
  );
}
