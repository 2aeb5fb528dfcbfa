/** How much of what there is room for is taken: a bar with its figures beside it. */
interface MeterProps {
  readonly value: number;
  readonly max: number;
  readonly label: string;
  /** From this share on it is worth a look. */
  readonly warnAt?: number;
}

export function Meter({ value, max, label, warnAt = 2 }: MeterProps) {
  const share = max > 0 ? Math.min(1, Math.max(0, value / max)) : 0;
  return (
    <span className="meter" title={label} data-warn={share >= warnAt || undefined}>
      <svg viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
        <rect className="meter-room" width="100" height="6" rx="3" />
        {share > 0 && <rect className="meter-fill" width={Math.max(3, share * 100)} height="6" />}
      </svg>
      <span className="number">
        {value}
        <span className="quiet">/{max}</span>
      </span>
    </span>
  );
}
