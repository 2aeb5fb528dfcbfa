/** What the run was after any of its records, and what that record has changed. */
import { useMemo, useState } from 'react';
import { CopyButton } from '../../components/copy.tsx';
import { Loading, Refusal } from '../../components/panel.tsx';
import { showJson } from '../../format/lossless.ts';
import { showBytes } from '../../format/words.ts';
import { get, queryText } from '../../services/api.ts';
import type { RunContext, RunRecord } from '../../services/types.ts';
import { useLoad } from '../../services/use-load.ts';
import { Changes } from './changes.tsx';

const TABS = ['Change', 'Context', 'Event'] as const;
type Tab = (typeof TABS)[number];
/** Larger ones are shown when somebody wants them. */
const SHOWN_LENGTH_MAX = 256 * 1024;

interface ContextPanelProps {
  readonly id: string;
  readonly record: RunRecord;
  readonly why: string;
  readonly isRevealed: boolean;
}

export function ContextPanel({ id, record, why, isRevealed }: ContextPanelProps) {
  const [tab, setTab] = useState<Tab>('Context');
  const { seq } = record;
  // A record of this number may be another one after a rewind.
  const key = `${id} ${seq} ${record.hash} ${isRevealed}`;
  const ask = (at: number, signal: AbortSignal) => {
    const query = { at, reveal: isRevealed ? 'true' : undefined };
    return get<RunContext>(`/runs/${encodeURIComponent(id)}/context${queryText(query)}`, signal);
  };
  const now = useLoad(tab === 'Event' ? undefined : key, (signal) => ask(seq, signal));
  const isFirst = seq === 0;
  const past = useLoad(tab === 'Change' && !isFirst ? `before ${key}` : undefined, (signal) =>
    ask(seq - 1, signal),
  );
  const error = now.error ?? past.error;
  return (
    <>
      <div className="tabs" role="group" aria-label="What is shown">
        {TABS.map((name) => (
          <button key={name} type="button" aria-pressed={tab === name} onClick={() => setTab(name)}>
            {name}
          </button>
        ))}
        <span className="quiet">
          after #{seq} <code>{record.event.type}</code>
        </span>
      </div>
      <p className="context-why">{why}</p>
      {tab === 'Event' ? (
        <Json value={record.event} what="the event" />
      ) : error ? (
        <Refusal error={error} onAgain={now.reload} />
      ) : !now.data || (tab === 'Change' && !isFirst && !past.data) ? (
        <Loading what="the context" />
      ) : tab === 'Context' ? (
        <Json value={shownOf(now.data)} what="the context" />
      ) : (
        <Changes
          before={isFirst ? {} : shownOf(past.data!)}
          after={shownOf(now.data)}
          nothing="This record has changed nothing of it."
        />
      )}
    </>
  );
}

function shownOf({ state, attempt, input, outputs, work, ending }: RunContext): object {
  return { state, attempt, input, outputs, work, ending };
}

export function Json({ value, what }: { value: unknown; what: string }) {
  const text = useMemo(() => showJson(value), [value]);
  const [isAll, setAll] = useState(false);
  const isLong = text.length > SHOWN_LENGTH_MAX && !isAll;
  return (
    <div className="json">
      <div className="json-head quiet">
        {showBytes(text.length)}
        <CopyButton text={text} what={what} />
      </div>
      <pre tabIndex={0}>{isLong ? `${text.slice(0, 4_096)}\n…` : text}</pre>
      {isLong && (
        <button type="button" className="small" onClick={() => setAll(true)}>
          Show all of it
        </button>
      )}
    </div>
  );
}
