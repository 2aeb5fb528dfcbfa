/** Payloads that are masked: who may see them, does so on purpose, and leaves a trace. */
import { Icon } from '../../components/icon.tsx';
import { useSession } from '../../services/session.tsx';
import type { Run } from '../../services/types.ts';

export function hasMasked({ input, output, error }: Run): boolean {
  return [input, output, error].some(
    (value) => typeof value === 'object' && value !== null && 'isMasked' in value,
  );
}

export function Reveal({ isRevealed, onReveal }: { isRevealed: boolean; onReveal: () => void }) {
  const { who } = useSession();
  if (isRevealed) return null;
  if (!who.mayReveal) return <span className="quiet">Payloads are masked for {who.name}.</span>;
  return (
    <button
      type="button"
      className="small"
      title="Each look leaves a row in the audit log"
      onClick={onReveal}
    >
      <Icon sign="eye" />
      Reveal payloads
    </button>
  );
}
