/** What an act would do, as the server says. */
import { Refusal } from '../../components/panel.tsx';
import { Time } from '../../components/time.tsx';
import type { Glimpse } from '../../services/types.ts';
import type { Preview } from './act-dialog.tsx';
import type { ActName, Filled } from './acts.ts';

interface ActPreviewProps {
  readonly preview: Preview;
  readonly of: ActName;
  readonly filled: Filled;
}

export function ActPreview({ preview, of, filled }: ActPreviewProps) {
  if (preview.kind === 'asking') {
    return (
      <p className="quiet" role="status">
        Asking what it would do…
      </p>
    );
  }
  if (preview.kind === 'refused') return <Refusal error={preview.error} />;
  const { before, after, kind } = preview.changed;
  return (
    <div className="preview" role="status" aria-busy={preview.isStale}>
      <h3>What it would do</h3>
      {of === 'fork' && (
        <p>
          A new run begins at <strong>{filled.from}</strong>
          {filled.input.trim() === '' ? ', with the same input' : ', with the input above'}. This
          one stays as it is.
        </p>
      )}
      {kind === 'already' && <p>Nothing: it is so already.</p>}
      {kind === 'requested' && <p>Its pod is asked, and does so between two phases.</p>}
      {of === 'fork' ? null : before && after ? (
        <dl>
          <Line name="Status" before={before.status} after={after.status} />
          <Line name="Revision" before={before.revision} after={after.revision} />
          <Line name="Paused" before={yesNo(before)} after={yesNo(after)} />
          <dt>Due</dt>
          <dd>
            <Time at={before.runAt} />
            {after.runAt !== before.runAt && (
              <>
                {' → '}
                <strong>
                  <Time at={after.runAt} />
                </strong>
              </>
            )}
          </dd>
        </dl>
      ) : (
        <p className="quiet">This run is in the journal of this process alone.</p>
      )}
    </div>
  );
}

const yesNo = ({ isPaused }: Glimpse) => (isPaused ? 'yes' : 'no');

function Line({ name, before, after }: { name: string; before: string; after: string }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>
        {before}
        {after !== before && (
          <>
            {' → '}
            <strong>{after}</strong>
          </>
        )}
      </dd>
    </>
  );
}
