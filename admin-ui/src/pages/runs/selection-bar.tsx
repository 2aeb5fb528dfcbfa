/** What can be done with the rows that were picked. */
import { toast } from '../../components/toast.tsx';
import { plural } from '../../format/words.ts';
import { copyText } from '../../platform/copy.ts';
import type { Run } from '../../services/types.ts';

export function SelectionBar({ rows, onDone }: { rows: readonly Run[]; onDone: () => void }) {
  if (rows.length === 0) return null;
  const copy = async () => {
    await copyText(rows.map(({ id }) => id).join('\n'));
    toast(`Copied ${plural(rows.length, 'id')}`);
  };
  return (
    <section className="selection" aria-label="Selection">
      <strong>{plural(rows.length, 'run')} selected</strong>
      <button type="button" className="small" onClick={copy}>
        Copy ids
      </button>
      <button type="button" className="small ghost" onClick={onDone}>
        Clear
      </button>
    </section>
  );
}
