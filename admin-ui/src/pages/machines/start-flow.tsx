/** When, in which order and how often a run may go: what a fleet takes beside its input, folded away. */
import { useState } from 'react';
import type { ApiError } from '../../services/api.ts';
import { type Filled, fieldsOf, fill, type Typed } from './schema-form.ts';
import { StartFields } from './start-fields.tsx';

const NAME_LENGTH_MAX = 512;
const PRIORITY_MAX = 32_767;
const RETRIES_MAX = 1_000_000;

const FIELDS = fieldsOf({
  type: 'object',
  properties: {
    queue: {
      type: 'string',
      maxLength: NAME_LENGTH_MAX,
      description: 'The one called default, otherwise',
    },
    serialKey: {
      type: 'string',
      maxLength: NAME_LENGTH_MAX,
      description: 'Runs that share one go one after the other',
    },
    priority: {
      type: 'integer',
      minimum: -PRIORITY_MAX,
      maximum: PRIORITY_MAX,
      description: 'Higher goes first; 0 otherwise',
    },
    runAt: {
      type: 'string',
      description: 'After a duration such as 10m, or at a time with its zone',
    },
    retriesMax: {
      type: 'integer',
      minimum: 1,
      maximum: RETRIES_MAX,
      description: 'An extra cap, beside that of the machine',
    },
  },
})!;

const LABELS = {
  queue: 'Queue',
  serialKey: 'Serial key',
  priority: 'Priority',
  runAt: 'Due',
  retriesMax: 'Failures at most',
} as const;

const FLAGS: Readonly<Record<string, string>> = {
  queue: '--queue',
  serialKey: '--serial-key',
  priority: '--priority',
  runAt: '--run-at',
  retriesMax: '--retries-max',
};

export interface Flow {
  readonly typed: Typed;
  readonly filled: Filled;
  readonly put: (name: string, text: string) => void;
}

export function useFlow(): Flow {
  const [typed, setTyped] = useState<Typed>({});
  const put = (name: string, text: string) => setTyped((before) => ({ ...before, [name]: text }));
  return { typed, filled: fill(FIELDS, typed), put };
}

/** The same for a shell. */
export function flowWords({ filled }: Flow): readonly (readonly [flag: string, value: string])[] {
  return Object.entries(filled.input).map(([name, value]) => [FLAGS[name]!, `${value}`]);
}

/** Which of ours a refusal of the API is about, and what it says of it. */
export function faultAt(
  error: ApiError | undefined,
): readonly [name: string, why: string] | undefined {
  const [, name, why] = /^([A-Za-z]+) (?:in the body )?(.+)$/s.exec(error?.message ?? '') ?? [];
  if (name === undefined || why === undefined) return undefined;
  return name === 'key' || Object.hasOwn(LABELS, name) ? [name, why] : undefined;
}

export function StartFlow({ flow, refused }: { flow: Flow; refused: ApiError | undefined }) {
  const [isOpen, setOpen] = useState(false);
  const [name, why] = faultAt(refused) ?? [];
  const wrong =
    name !== undefined && name !== 'key' && !Object.hasOwn(flow.filled.wrong, name)
      ? { ...flow.filled.wrong, [name]: why! }
      : flow.filled.wrong;
  const isWrong = Object.keys(wrong).length > 0;
  return (
    <details className="start-flow" open={isOpen || isWrong}>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: a summary is turned by keys and clicks; here by
          us alone, so that what is wrong is never folded away */}
      <summary
        onClick={(event) => {
          event.preventDefault();
          setOpen(isWrong || !isOpen);
        }}
      >
        When, and in which order
      </summary>
      <StartFields
        {...{ fields: FIELDS, typed: flow.typed, wrong, labels: LABELS }}
        touched={new Set(Object.keys(flow.typed))}
        onType={flow.put}
      />
    </details>
  );
}
