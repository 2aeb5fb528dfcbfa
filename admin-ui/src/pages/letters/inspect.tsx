/** One dead letter beside the list: its error, its input, and what can be done with it. */
import { useLayoutEffect, useRef, useState } from 'react';
import { CopyButton } from '../../components/copy.tsx';
import { Icon } from '../../components/icon.tsx';
import { useKeys } from '../../components/keys.ts';
import { Loading, Panel, Refusal } from '../../components/panel.tsx';
import { Time } from '../../components/time.tsx';
import { showJson } from '../../format/lossless.ts';
import { plural, triesOf } from '../../format/words.ts';
import { Link } from '../../router/router.tsx';
import { get } from '../../services/api.ts';
import { useMayDo, useSession } from '../../services/session.tsx';
import type { Run } from '../../services/types.ts';
import { useLoad } from '../../services/use-load.ts';
import { ActDialog } from '../run/act-dialog.tsx';
import { ACTS } from '../run/acts.ts';
import { Json } from '../run/context-panel.tsx';
import { ErrorPanel } from '../run/error-panel.tsx';
import { hasMasked, Reveal } from '../run/reveal.tsx';
import { outcomeText } from './letters-table.tsx';
import '../../styles/acts.css';

interface InspectProps {
  readonly id: string;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

export function Inspect({ id, onClose, onDone }: InspectProps) {
  const [isRevealed, setRevealed] = useState(false);
  const path = `/runs/${encodeURIComponent(id)}${isRevealed ? '?reveal=true' : ''}`;
  const { data, error, reload } = useLoad(path, (signal) => get<Run>(path, signal));
  const panel = useRef<HTMLElement>(null);
  // Who asks for it wants to read it: by keys, too.
  useLayoutEffect(() => panel.current?.focus(), []);
  return (
    <aside className="inspect panel" aria-label="Dead letter" ref={panel} tabIndex={-1}>
      <header className="panel-head">
        <h2>{data ? data.machine : 'Dead letter'}</h2>
        <button type="button" className="ghost small" aria-label="Close" onClick={onClose}>
          <Icon sign="close" />
        </button>
      </header>
      {error ? (
        <Refusal error={error} onAgain={reload} />
      ) : data ? (
        <Told
          run={data}
          isRevealed={isRevealed}
          onReveal={() => setRevealed(true)}
          onDone={onDone}
        />
      ) : (
        <Loading what="the dead letter" />
      )}
    </aside>
  );
}

interface ToldProps {
  readonly run: Run;
  readonly isRevealed: boolean;
  readonly onReveal: () => void;
  readonly onDone: () => void;
}

function Told({ run, isRevealed, onReveal, onDone }: ToldProps) {
  return (
    <div className="inspect-body">
      <p className="run-id quiet">
        <code>{run.id}</code>
        <CopyButton text={run.id} what="the id" />
      </p>
      <p className="quiet">
        {outcomeText(run.outcome)} after {plural(triesOf(run), 'try', 'tries')},{' '}
        <Time at={run.finishedAt ?? run.updatedAt} />
        {(run.crashes ?? 0) > 0 && `, ${plural(run.crashes!, 'crash', 'crashes')}`}
        {(run.generation ?? 1) > 1 && `, generation ${run.generation}`}
      </p>
      <Acts run={run} onDone={onDone} />
      <ErrorPanel run={run} />
      {hasMasked(run) && <Reveal isRevealed={isRevealed} onReveal={onReveal} />}
      <Panel title="Input">
        <Json value={run.input} what="the input" />
      </Panel>
    </div>
  );
}

type Open = 'redrive' | 'edit' | 'discard';

function Acts({ run, onDone }: { run: Run; onDone: () => void }) {
  const [open, setOpen] = useState<Open>();
  const { who } = useSession();
  const [mayOperate, mayAdmin] = [useMayDo('operate'), useMayDo('admin')];
  // Of what is masked nobody knows what to change.
  const mayEdit = mayOperate && !hasMasked({ ...run, error: undefined, output: undefined });
  const isLetter = ACTS.discard.whyNot(run) === undefined;
  useKeys({
    ...(mayOperate && isLetter ? { r: () => setOpen('redrive') } : {}),
    ...(mayEdit && isLetter ? { e: () => setOpen('edit') } : {}),
  });
  return (
    <div className="orders">
      {mayOperate && isLetter && (
        <>
          <button
            type="button"
            className="small primary"
            title="r"
            onClick={() => setOpen('redrive')}
          >
            Redrive
          </button>
          <button
            type="button"
            className="small"
            title={mayEdit ? 'e' : 'Its input is masked: reveal it first'}
            disabled={!mayEdit}
            onClick={() => setOpen('edit')}
          >
            Edit and redrive
          </button>
          <button
            type="button"
            className="small"
            title={mayAdmin ? ACTS.discard.about : 'This needs the role admin'}
            disabled={!mayAdmin}
            onClick={() => setOpen('discard')}
          >
            Discard
          </button>
        </>
      )}
      <Link className="button small" to={`/runs/${encodeURIComponent(run.id)}`}>
        <Icon sign="open" />
        Open the run
      </Link>
      {!mayOperate && (
        <p className="quiet">
          {who.name} may look, and not act (role {who.role}).
        </p>
      )}
      {!isLetter && <p className="quiet">It is no dead letter any more.</p>}
      {open && (
        <ActDialog
          name={open === 'discard' ? 'discard' : 'redrive'}
          run={run}
          phases={[]}
          {...(open === 'edit' ? { input: showJson(run.input) } : {})}
          onClose={() => setOpen(undefined)}
          onDone={onDone}
        />
      )}
    </div>
  );
}
