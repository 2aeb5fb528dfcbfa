/** How a run stands: a shape, a word and a colour that say the same. */
import { kindOf, LABEL } from '../format/words.ts';
import type { Run } from '../services/types.ts';
import { StatusIcon } from './icon.tsx';

export function Status({ run }: { run: Pick<Run, 'status' | 'outcome' | 'isPaused' | 'blocked'> }) {
  const kind = kindOf(run);
  return (
    <span className="status" data-kind={kind}>
      <StatusIcon kind={kind} />
      {LABEL[kind]}
    </span>
  );
}
