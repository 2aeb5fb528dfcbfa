/** How far a bulk operation is: a bar of what became of each run, and the same in words. */
import { plural, showCount } from '../../format/words.ts';
import type { Bulk } from '../../services/many.ts';
import {
  actedOn,
  isOver,
  OUTCOME_LABEL,
  OUTCOMES,
  STATUS_LABEL,
  STATUS_TINT,
  sharesOf,
} from './bulk-words.ts';

/** As one word and one colour; what nobody is at says so first. */
export function BulkState({ bulk }: { bulk: Bulk }) {
  return (
    <span className="state" data-tint={bulk.isStalled ? 'bad' : STATUS_TINT[bulk.status]}>
      {bulk.isStalled ? 'Stalled' : STATUS_LABEL[bulk.status]}
    </span>
  );
}

export function ProgressBar({ bulk }: { bulk: Bulk }) {
  const shares = sharesOf(bulk);
  const acted = actedOn(bulk);
  const said = OUTCOMES.filter((outcome) => bulk[outcome] > 0)
    .map((outcome) => `${showCount(bulk[outcome])} ${OUTCOME_LABEL[outcome].toLowerCase()}`)
    .join(', ');
  let x = 0;
  return (
    <svg
      className="progress"
      viewBox="0 0 100 8"
      preserveAspectRatio="none"
      role="img"
      aria-label={`${howFar(bulk, acted)}${said === '' ? '' : `: ${said}`}`}
    >
      <rect className="progress-left" width="100" height="8" />
      {OUTCOMES.map((outcome) => {
        const [from, width] = [x, shares[outcome] * 100];
        x += width;
        return (
          width > 0 && (
            <rect
              key={outcome}
              className={`progress-${outcome}`}
              x={from}
              // A single refusal among thousands is still to be seen.
              width={Math.max(width, 0.6)}
              height="8"
            />
          )
        );
      })}
    </svg>
  );
}

export function howFar(bulk: Bulk, acted = actedOn(bulk)): string {
  const { expected } = bulk;
  if (isOver(bulk) || expected === undefined) return plural(acted, 'run');
  return `${showCount(acted)} of ${plural(Math.max(expected, acted), 'run')}`;
}
