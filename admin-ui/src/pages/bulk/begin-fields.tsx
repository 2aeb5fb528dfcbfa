/** What a bulk operation has to be told. */
import { DEEDS, type DeedName, type Filled, LIMIT_MAX, RATE_MAX } from './deeds.ts';

interface BeginFieldsProps {
  readonly filled: Filled;
  readonly offered: readonly DeedName[];
  readonly onChange: (filled: Filled) => void;
}

export function BeginFields({ filled, offered, onChange }: BeginFieldsProps) {
  const put = (part: Partial<Filled>) => onChange({ ...filled, ...part });
  return (
    <>
      <fieldset className="choices">
        <legend>What to do to each run</legend>
        {offered.map((name) => (
          <label key={name} className="choice">
            <input
              type="radio"
              name="what"
              value={name}
              checked={filled.what === name}
              onChange={() => put({ what: name })}
            />
            {DEEDS[name].label}
          </label>
        ))}
      </fieldset>
      <p className="quiet">{DEEDS[filled.what].about}</p>
      <OfDeed filled={filled} put={put} />
      <div className="pair">
        <label>
          Runs a second
          <input
            type="number"
            min={1}
            max={RATE_MAX}
            value={filled.rate}
            onChange={(event) => put({ rate: event.target.value })}
          />
        </label>
        <label>
          No more than, or empty
          <input
            type="number"
            min={1}
            max={LIMIT_MAX}
            placeholder="all of them"
            value={filled.limit}
            onChange={(event) => put({ limit: event.target.value })}
          />
        </label>
      </div>
    </>
  );
}

function OfDeed({ filled, put }: { filled: Filled; put: (part: Partial<Filled>) => void }) {
  switch (filled.what) {
    case 'cancel':
      return (
        <label>
          Reason, for whoever looks at them later
          <input
            value={filled.reason}
            maxLength={1_000}
            onChange={(event) => put({ reason: event.target.value })}
          />
        </label>
      );
    case 'reschedule':
      return (
        <label>
          Due after a duration such as 10m, or at a time with its zone
          <input value={filled.runAt} onChange={(event) => put({ runAt: event.target.value })} />
        </label>
      );
    case 'redrive':
      return (
        <label className="check">
          <input
            type="checkbox"
            checked={filled.isFresh}
            onChange={(event) => put({ isFresh: event.target.checked })}
          />
          From their beginning, with new idempotency keys
        </label>
      );
    default:
      return null;
  }
}
