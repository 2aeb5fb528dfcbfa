/** What went wrong: what it says, what caused it, and which other failures are the same. */
import { fingerprintOf } from '../../../../src/query/index.ts';
import { CopyButton } from '../../components/copy.tsx';
import { Panel } from '../../components/panel.tsx';
import { failureOf, showBytes } from '../../format/words.ts';
import { Link } from '../../router/router.tsx';
import type { Run } from '../../services/types.ts';

export function ErrorPanel({ run }: { run: Run }) {
  const failure = failureOf(run.error);
  if (!failure) return null;
  const { name, code, message, stack, causes = [], kind, isMasked, bytes } = failure;
  // Of a masked error nobody here knows the words that its fingerprint is over.
  const fingerprint = isMasked
    ? undefined
    : fingerprintOf({ machine: run.machine, name, code, message });
  return (
    <Panel
      title="Error"
      className="error-panel"
      aside={<CopyButton text={[message, stack].filter(Boolean).join('\n\n')} what="the error" />}
    >
      <p className="error-said">
        <strong>{code ?? name ?? 'Error'}</strong>
        {kind && <span className="quiet"> ({kind})</span>}
      </p>
      <p className="error-message">
        {isMasked ? `masked, ${showBytes(bytes ?? 0)}` : message || 'It said nothing.'}
      </p>
      {causes.length > 0 && (
        <ol className="causes" aria-label="Caused by">
          {causes.map((cause, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a chain has an order and no names
            <li key={index}>{cause}</li>
          ))}
        </ol>
      )}
      {stack && (
        <details>
          <summary>Stack</summary>
          <pre>{stack}</pre>
        </details>
      )}
      {fingerprint && (
        <p className="quiet">
          Fingerprint <code>{fingerprint}</code> ·{' '}
          <Link to={`/runs?q=${encodeURIComponent(`error:${fingerprint}`)}`}>
            Runs that failed the same way
          </Link>
        </p>
      )}
    </Panel>
  );
}
