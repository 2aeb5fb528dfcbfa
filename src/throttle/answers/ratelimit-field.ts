/**
 * The `RateLimit` header of the IETF's drafts, which may tell of several limits at once. The later form is
 * `"hour";r=50;t=30`, and `RateLimit-Policy` describes its limits; the former one was
 * `limit=9, remaining=5, reset=30`.
 */
import type { RateHint } from './rate-headers.ts';

const LENGTH_MAX = 2_000;

/** The limit that leaves least, of those that count requests. */
export function hintOfField(field: string, policy: string | undefined): RateHint | undefined {
  const former = hintOf(memberOf(field.split(',').join(';')), 'remaining', 'reset', undefined);
  if (former) return former;
  const policies = new Map(membersOf(policy ?? '').map((member) => [member.name, member]));
  const found = membersOf(field)
    .filter(({ name }) => countsRequests(policies.get(name)))
    .flatMap((member) => hintOf(member, 'r', 't', policies.get(member.name)?.of.get('w')) ?? []);
  return found.sort((one, other) => rateOf(one) - rateOf(other))[0];
}

interface Member {
  readonly name: string;
  readonly of: ReadonlyMap<string, string>;
}

/** A limit that does not say when it is over has at most the whole window to go. */
function hintOf(
  { of }: Member,
  remainingKey: string,
  resetKey: string,
  windowSeconds: string | undefined,
): RateHint | undefined {
  const remaining = countOf(of.get(remainingKey));
  const seconds = countOf(of.get(resetKey) ?? windowSeconds);
  if (remaining === undefined || seconds === undefined) return undefined;
  return { remaining, resetMs: seconds * 1_000 };
}

function countsRequests(policy: Member | undefined): boolean {
  const unit = policy?.of.get('qu');
  return unit === undefined || unit === 'requests';
}

function membersOf(field: string): Member[] {
  return field.length > LENGTH_MAX ? [] : field.split(',').map(memberOf);
}

function memberOf(text: string): Member {
  const parts = text.slice(0, LENGTH_MAX).split(';');
  const pairs = parts.map((part): [string, string] => {
    const at = part.indexOf('=');
    return at < 0 ? ['', ''] : [part.slice(0, at).trim().toLowerCase(), bare(part.slice(at + 1))];
  });
  return { name: bare(parts[0] ?? ''), of: new Map(pairs) };
}

function bare(text: string): string {
  return text.trim().replace(/^"(.*)"$/, '$1');
}

function countOf(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

function rateOf({ remaining, resetMs }: RateHint): number {
  return remaining / Math.max(1, resetMs);
}
