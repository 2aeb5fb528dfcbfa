/** What a row of the audit log says, in a line. Pure: details are whatever was written. */
export interface Note {
  readonly via: string | undefined;
  /** The bulk operation that it was part of, or is about. */
  readonly bulk: string | undefined;
  readonly text: string;
}

type Detail = Readonly<Record<string, unknown>>;

/** Told by columns of their own, or by nobody. */
const ELSEWHERE: readonly string[] = ['via', 'kind', 'before', 'after', 'reason', 'isMasked'];

export function noteOf(what: string, detail: unknown): Note {
  const told: Detail = typeof detail === 'object' && detail !== null ? (detail as Detail) : {};
  const via = wordOf(told['via']);
  const bulk = via?.startsWith('bulk:') ? via.slice('bulk:'.length) : bulkIn(what, told);
  return { via, bulk, text: [...changeOf(told), ...restOf(told)].join(' · ') };
}

function bulkIn(what: string, told: Detail): string | undefined {
  return /^bulk(\.|$)/.test(what) ? (wordOf(told['bulk']) ?? wordOf(told['id'])) : undefined;
}

function changeOf({ before, after, reason, kind }: Detail): string[] {
  const parts: string[] = [];
  const [from, to] = [glimpse(before), glimpse(after)];
  if (to !== undefined) parts.push(from === undefined || from === to ? to : `${from} → ${to}`);
  if (kind === 'requested') parts.push('its pod was asked');
  if (kind === 'already') parts.push('it was so already');
  if (typeof reason === 'string' && reason !== '') parts.push(`“${reason}”`);
  return parts;
}

function glimpse(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return undefined;
  // Its revision is for programs: whoever wants it opens the row.
  const { status, isPaused } = value as Detail;
  if (typeof status !== 'string') return undefined;
  return `${status}${isPaused === true ? ', paused' : ''}`;
}

function restOf(told: Detail): string[] {
  return Object.entries(told)
    .filter(([name, value]) => !ELSEWHERE.includes(name) && isPlain(value) && value !== false)
    .map(([name, value]) => (value === true ? name : `${name} ${String(value)}`));
}

function isPlain(value: unknown): boolean {
  return ['string', 'number', 'boolean', 'bigint'].includes(typeof value);
}

function wordOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
