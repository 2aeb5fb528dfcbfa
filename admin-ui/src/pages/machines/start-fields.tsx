/** The fields of an input, each with what is wrong about it beside it. */
import type { Field, Filled, Typed } from './schema-form.ts';

interface StartFieldsProps {
  readonly fields: readonly Field[];
  readonly typed: Typed;
  readonly wrong: Filled['wrong'];
  /** Nobody is scolded for what they have not come to yet. */
  readonly touched: ReadonlySet<string>;
  /** Of those that are not the machine's own: what people call them, none of which has to be filled. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly onType: (name: string, text: string) => void;
}

export function StartFields(props: StartFieldsProps) {
  const { fields, typed, wrong, touched, labels, onType } = props;
  return fields.map((field) => {
    const why = touched.has(field.name) ? wrong[field.name] : undefined;
    // A machine may have a field of the same name.
    const id = `${labels ? 'flow' : 'field'}-${field.name}`;
    return (
      <div key={field.name} className="start-field" data-wrong={why !== undefined || undefined}>
        <label htmlFor={id}>
          {labels?.[field.name] ?? <code>{field.name}</code>}
          {field.isRequired || labels ? '' : <span className="quiet"> optional</span>}
        </label>
        <Control
          field={field}
          id={id}
          text={typed[field.name] ?? ''}
          describedBy={`${id}-why`}
          isWrong={why !== undefined}
          onType={(text) => onType(field.name, text)}
        />
        <p id={`${id}-why`} className={why === undefined ? 'quiet' : 'field-wrong'}>
          {why ?? field.about ?? ''}
        </p>
      </div>
    );
  });
}

interface ControlProps {
  readonly field: Field;
  readonly id: string;
  readonly text: string;
  readonly describedBy: string;
  readonly isWrong: boolean;
  readonly onType: (text: string) => void;
}

function Control({ field, id, text, describedBy, isWrong, onType }: ControlProps) {
  const common = {
    id,
    value: text,
    'aria-describedby': describedBy,
    'aria-invalid': isWrong,
    'aria-required': field.isRequired,
    onChange: (event: { readonly target: { readonly value: string } }) =>
      onType(event.target.value),
  };
  const placeholder =
    field.otherwise === undefined ? undefined : `${JSON.stringify(field.otherwise)} by default`;
  switch (field.kind) {
    case 'boolean':
      return (
        <select {...common}>
          <option value="">{placeholder ?? '–'}</option>
          <option>true</option>
          <option>false</option>
        </select>
      );
    case 'choice':
      return (
        <select {...common}>
          <option value="">{placeholder ?? '–'}</option>
          {field.choices.map((choice, index) => (
            <option key={JSON.stringify(choice)} value={index}>
              {typeof choice === 'string' ? choice : JSON.stringify(choice)}
            </option>
          ))}
        </select>
      );
    case 'json':
      return (
        <textarea
          {...common}
          rows={3}
          spellCheck={false}
          className="mono"
          placeholder={placeholder ?? 'JSON'}
        />
      );
    default:
      return (
        <input
          {...common}
          autoComplete="off"
          spellCheck={false}
          inputMode={field.kind === 'text' ? 'text' : 'decimal'}
          placeholder={placeholder}
        />
      );
  }
}
