/** Why it does not run, or how it ended: the reason first, what it is known by below. */
import { CopyButton } from '../../components/copy.tsx';
import { Refusal } from '../../components/panel.tsx';
import type { Kind } from '../../format/words.ts';
import type { Explained } from '../../services/types.ts';
import type { Loaded } from '../../services/use-load.ts';

interface ExplainBannerProps {
  readonly loaded: Loaded<Explained>;
  readonly kind: Kind;
  readonly onAt: (seq: number) => void;
}

export function ExplainBanner({ loaded, kind, onAt }: ExplainBannerProps) {
  const { data, error, reload } = loaded;
  if (error && !data) return <Refusal error={error} onAgain={reload} />;
  const [first, ...others] = data?.findings ?? [];
  if (!first) return <div className="explain" aria-busy="true" />;
  return (
    <section className="explain" data-kind={kind} aria-label="Why">
      <p className="explain-first">{first.sentence}</p>
      {others.map(({ code, sentence }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: one code may be told twice
        <p key={`${code} ${index}`} className="quiet">
          {sentence}
        </p>
      ))}
      <div className="explain-foot">
        {first.evidence.map(({ text, seq }) =>
          seq === undefined ? (
            <span key={text} className="quiet">
              {text}
            </span>
          ) : (
            <button
              key={`${seq} ${text}`}
              type="button"
              className="small"
              onClick={() => onAt(seq)}
            >
              #{seq} {text}
            </button>
          ),
        )}
        <span className="explain-hint quiet">
          {first.hint.text}: <code>{first.hint.command}</code>
          <CopyButton text={first.hint.command} what="the command" />
        </span>
      </div>
    </section>
  );
}
