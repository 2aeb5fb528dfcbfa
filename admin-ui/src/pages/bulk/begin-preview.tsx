/** What a bulk operation would find, how long that takes, and what becomes of the first of them. */
import { Refusal } from '../../components/panel.tsx';
import { showSpan } from '../../format/time.ts';
import { plural } from '../../format/words.ts';
import type { BulkTried } from '../../services/many.ts';
import type { Tried } from './begin-dialog.tsx';

export function BeginPreview({ tried, rate }: { tried: Tried; rate: number }) {
  if (tried.kind === 'asking') {
    return (
      <p className="preview" role="status">
        Counting what it would find…
      </p>
    );
  }
  if (tried.kind === 'refused') return <Refusal error={tried.error} />;
  const { count, isExact, sample } = tried.tried;
  const refused = sample.filter(({ answer }) => answer === 'refused').length;
  return (
    <div className="preview" role="status">
      <h3>What it would do</h3>
      {count === 0 ? (
        <p>Nothing: no run fits.</p>
      ) : (
        <p>
          <strong>
            {isExact ? '' : 'At least '}
            {plural(count, 'run')}
          </strong>
          {rate > 0 && `, in about ${showSpan((count / rate) * 1_000)}`}. Runs that come later are
          not touched.
        </p>
      )}
      {refused > 0 && (
        <p className="preview-warning">
          Of the first {sample.length}, {refused} would refuse.
        </p>
      )}
      {sample.length > 0 && <Sample sample={sample} />}
    </div>
  );
}

function Sample({ sample }: Pick<BulkTried, 'sample'>) {
  return (
    <details>
      <summary>The first {sample.length}, one by one</summary>
      <ul className="sample">
        {sample.map(({ task, machine, status, answer, becomes, why }) => (
          <li key={task} data-answer={answer}>
            <code title={task}>…{task.slice(-8)}</code> {machine}
            <span>
              {status} → {why ?? (answer === 'already' ? 'as it is' : becomes)}
            </span>
          </li>
        ))}
      </ul>
    </details>
  );
}
