/** What people are shown of texts that users' code has written: without what is named as secret. */
import { describeSealed, type Json } from '../ground/index.ts';
import type { StoredRecord } from '../journal/index.ts';

export type Redact = (json: Json) => Json;

interface Telling {
  readonly input?: unknown;
  readonly output?: unknown;
  readonly error?: unknown;
}

/** Names and paths are of an input, an output or an error, from its top. */
export function withoutSecrets<T extends Telling>(view: T, redact: Redact): T {
  const [input, output, error] = [view.input, view.output, view.error].map((value) =>
    value === undefined ? undefined : redact(value as Json),
  );
  return { ...view, input, output, error };
}

export function recordWithoutSecrets(record: StoredRecord, redact: Redact): StoredRecord {
  const entries = Object.entries(record.event).map(([name, value]) => [
    name,
    typeof value === 'object' && value !== null ? redact(value as Json) : value,
  ]);
  return { ...record, event: Object.fromEntries(entries) as StoredRecord['event'] };
}

/** A text of a row: JSON, or whatever came by a plain INSERT; and where no key opens it, what it is. */
export function textAsJson(text: string | undefined): unknown {
  if (text === undefined) return undefined;
  const sealed = describeSealed(text);
  if (sealed !== undefined) return { sealed };
  try {
    return withSealDescribed(JSON.parse(text));
  } catch {
    return text;
  }
}

/** An error whose name can be read, and whose message cannot. */
function withSealDescribed(value: unknown): unknown {
  const { sealed, ...rest } = Object(value) as Record<string, unknown>;
  const told = typeof sealed === 'string' ? describeSealed(sealed) : undefined;
  return told === undefined ? value : { ...rest, message: told };
}
