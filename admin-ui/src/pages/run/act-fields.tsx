/** What an act has to be told. */
import { useId } from 'react';
import type { ApiError } from '../../services/api.ts';
import type { ActName, Filled } from './acts.ts';

interface ActFieldsProps {
  readonly name: ActName;
  readonly filled: Filled;
  readonly phases: readonly string[];
  /** It is the input that is to be changed, and nothing else. */
  readonly isEditing: boolean;
  readonly wrong: ApiError | undefined;
  readonly onChange: (filled: Filled) => void;
}

export function ActFields(props: ActFieldsProps) {
  const { name, filled, phases, isEditing, wrong, onChange } = props;
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
          {!isEditing && (
            <label className="check">
              <input
                type="checkbox"
                checked={filled.isFresh}
                onChange={(event) => put({ isFresh: event.target.checked })}
              />
              From its beginning, with new idempotency keys
            </label>
          )}
          <InputField filled={filled} isEditing={isEditing} wrong={wrong} put={put} />
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
          <InputField filled={filled} isEditing={false} wrong={wrong} put={put} />
        </>
      );
    default:
      return null;
  }
}

/** As tall as what is in it, within reason. */
function rowsOf(text: string): number {
  return Math.max(5, Math.min(16, text.split('\n').length + 1));
}

interface InputFieldProps extends Pick<ActFieldsProps, 'filled' | 'isEditing' | 'wrong'> {
  readonly put: (part: Partial<Filled>) => void;
}

function InputField({ filled, isEditing, wrong, put }: InputFieldProps) {
  const id = useId();
  return (
    <div className="input-field">
      <label htmlFor={id}>
        {isEditing ? 'Its input, as JSON' : 'Another input, as JSON; empty leaves it as it is'}
      </label>
      <textarea
        id={id}
        rows={isEditing ? rowsOf(filled.input) : 4}
        spellCheck={false}
        className="mono"
        aria-invalid={wrong !== undefined}
        aria-describedby={`${id}-wrong`}
        value={filled.input}
        onChange={(event) => put({ input: event.target.value })}
      />
      <p id={`${id}-wrong`} className="field-wrong" role="status">
        {wrong && (
          <>
            {wrong.message} {wrong.hint && <span className="quiet">{wrong.hint}</span>}
          </>
        )}
      </p>
    </div>
  );
}
