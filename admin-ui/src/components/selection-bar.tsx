/** What was picked, whether that is all there is, and what can be done with it. */
import type { ReactNode } from 'react';
import { plural, showCount } from '../format/words.ts';
import { copyText } from '../platform/copy.ts';
import type { RunCount } from '../services/types.ts';
import { toast } from './toast.tsx';
import type { Selection } from './use-selection.ts';

interface SelectionBarProps {
  readonly selection: Selection;
  /** How many fit, if that is known. */
  readonly total: RunCount | undefined;
  /** Buttons that act on them; nothing for who may only look. */
  readonly children?: ReactNode;
}

export function SelectionBar({ selection, total, children }: SelectionBarProps) {
  const { ids, isAll, takeAll, clear } = selection;
  if (!isAll && ids.size === 0) return null;
  const all = total && `${total.isExact ? '' : 'more than '}${showCount(total.count)}`;
  const copy = async () => {
    const isCopied = await copyText([...ids].join('\n'));
    toast(
      isCopied ? `Copied ${plural(ids.size, 'id')}` : 'Could not copy',
      isCopied ? 'good' : 'bad',
    );
  };
  return (
    <section className="selection" aria-label="Selection">
      <strong role="status">
        {isAll ? `All ${all ?? ''} that match` : `${plural(ids.size, 'run')} selected`}
      </strong>
      {!isAll && total !== undefined && total.count > ids.size && (
        <button type="button" className="small" title="X" onClick={takeAll}>
          Select all {all} matching
        </button>
      )}
      {children}
      {!isAll && (
        <button type="button" className="small wide-only" onClick={copy}>
          Copy ids
        </button>
      )}
      <button type="button" className="small ghost" onClick={clear}>
        Clear
      </button>
    </section>
  );
}
