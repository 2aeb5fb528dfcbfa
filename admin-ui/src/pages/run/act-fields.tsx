/** What an act has to be told. */
import type { ActName, Filled } from './acts.ts';

interface ActFieldsProps {
  readonly name: ActName;
  readonly filled: Filled;
  readonly phases: readonly string[];
  readonly onChange: (filled: Filled) => void;
}

export function ActFields({ name, filled, phases, onChange }: ActFieldsProps) {
  const put = (part: Partial<Filled>) => onChange({ ...filled, ...part });
  switch (name) {
    case 'cancel':
      return (
        <label>
          Reason, for whoever looks at it later
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
        <>
          <label className="check">
            <input
              type="checkbox"
              checked={filled.isFresh}
              onChange={(event) => put({ isFresh: event.target.checked })}
            />
            From its beginning, with new idempotency keys
          </label>
          <InputField filled={filled} put={put} />
        </>
      );
    case 'fork':
      return (
        <>
          <label>
            The first phase that it performs
            <select value={filled.from} onChange={(event) => put({ from: event.target.value })}>
              {phases.map((phase) => (
                <option key={phase}>{phase}</option>
              ))}
            </select>
          </label>
          <InputField filled={filled} put={put} />
        </>
      );
    default:
      return null;
  }
}

function InputField({ filled, put }: { filled: Filled; put: (part: Partial<Filled>) => void }) {
  return (
    <label>
      Another input, as JSON; empty leaves it as it is
      <textarea
        rows={4}
        spellCheck={false}
        className="mono"
        value={filled.input}
        onChange={(event) => put({ input: event.target.value })}
      />
    </label>
  );
}
