/** Why somebody changes something: optional, and kept in the audit log. */
interface ReasonProps {
  readonly reason: string;
  readonly setReason: (reason: string) => void;
}

const REASON_LENGTH_MAX = 1_000;

export function ReasonField({ reason, setReason }: ReasonProps) {
  return (
    <label>
      Reason, for whoever reads the audit log
      <input
        value={reason}
        maxLength={REASON_LENGTH_MAX}
        onChange={(event) => setReason(event.target.value)}
      />
    </label>
  );
}
