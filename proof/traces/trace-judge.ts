/**
 * Holds the spans that arrived against the histories that the store has. What a trace must show is
 * worked out here from the records, and not by what makes the spans.
 */
import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { rowsOf } from '../../src/fleet/index.ts';
import type { EventRow } from '../../src/journal/index.ts';
import type { Store, TaskRow } from '../../src/store/index.ts';
import type { ReceivedSpan } from '../../test/telemetry/stage.ts';

export interface Verdict {
  readonly runs: number;
  readonly spans: number;
  /** Arrived more than once, as the same. */
  readonly repeated: number;
  readonly attempts: number;
  readonly crashed: number;
  readonly lost: number;
  readonly wrong: readonly string[];
}

const WRONG_COUNT_MAX = 20;
const ENDS_ATTEMPT = new Set([
  ...['DONE', 'HANDED_OFF', 'FAILED', 'POSTPONED', 'PROBED', 'INTERRUPTED'],
  ...['EXHAUSTED', 'ABORTED', 'TIMED_OUT'],
]);
const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

export async function judgeTraces(
  store: Store,
  tasks: readonly TaskRow[],
  spans: readonly ReceivedSpan[],
): Promise<Verdict> {
  const wrong: string[] = [];
  const byTrace = groupBy(spans, ({ traceId }) => traceId);
  let [attempts, crashed, lost, repeated] = [0, 0, 0, 0];
  for (const task of tasks) {
    const own = byTrace.get(bitsOf(task.id)) ?? [];
    const once = new Map(own.map((span) => [span.spanId, span]));
    repeated += own.length - once.size;
    const say = (what: string) => wrong.push(`${task.id}: ${what}`);
    const segments = await store.histories([{ task: task.id, generation: task.generation }]);
    const rows = rowsOf(task.id, segments, task.lastHash);
    const expected = attemptsOf(rows);
    attempts += expected.size;
    judgeWhole(task, own, once, say);
    for (const [spanId, { state, isCrash, resumedBy }] of expected) {
      const span = once.get(spanId);
      if (!span) {
        say(`${state} is missing`);
        continue;
      }
      if (!sameState(span.name, `${task.machine}.${state}`))
        say(`${state} is told as ${span.name}`);
      if (!isCrash) continue;
      crashed += 1;
      const { 'error.type': type, 'fleetq.outcome': outcome } = span.attributes;
      if (!span.isError || type !== 'pod_lost' || outcome !== 'crashed') say('a crash is not told');
      if (!span.links.some((link) => link.spanId === resumedBy)) say('a crash links to nothing');
    }
    for (const span of once.values()) {
      if (span.scope !== 'fleetq' || !('fleetq.phase' in span.attributes)) continue;
      if (span.name.startsWith('lost ')) lost += 1;
      else if (!expected.has(span.spanId)) say(`${span.name} is in no history`);
    }
  }
  const told = spans.filter(({ attributes }) => 'fleetq.run.id' in attributes);
  for (const { traceId, attributes } of told) {
    if (traceId !== bitsOf(String(attributes['fleetq.run.id'])))
      wrong.push(`${traceId} is another's`);
  }
  const count = { runs: tasks.length, spans: spans.length, repeated, attempts, crashed, lost };
  return { ...count, wrong: wrong.slice(0, WRONG_COUNT_MAX) };
}

/** One run, one beginning, one end; nothing without its parent; nothing told in two ways. */
function judgeWhole(
  task: TaskRow,
  own: readonly ReceivedSpan[],
  once: ReadonlyMap<string, ReceivedSpan>,
  say: (what: string) => void,
): void {
  const named = (prefix: string) =>
    [...once.values()].filter(({ name, scope }) => scope === 'fleetq' && name.startsWith(prefix));
  const [runs, ends] = [named('run '), named('end ')];
  if (runs.length !== 1) say(`${runs.length} beginnings`);
  if (ends.length !== 1) say(`${ends.length} ends`);
  if (ends[0] && ends[0].attributes['fleetq.outcome'] !== task.outcome) say('another end');
  for (const span of own) {
    if (span.parentSpanId && !once.has(span.parentSpanId)) say(`${span.name} is an orphan`);
    if (!span.parentSpanId && !span.name.startsWith('run ')) say(`${span.name} has no parent`);
    const first = once.get(span.spanId)!;
    // Of a beginning everybody who may have told it knows the time; of the rest, only who was there.
    const [one, other] = [span, first].map(({ name, attributes, startMs }) => ({
      ...{ name, startMs: name.startsWith('run ') ? startMs : undefined },
      ...attributes,
    }));
    if (!isDeepStrictEqual(one, other)) {
      say(`${span.spanId} is ${JSON.stringify(one)} and ${JSON.stringify(other)}`);
    }
  }
}

interface Expected {
  readonly state: string;
  readonly isCrash: boolean;
  readonly resumedBy: string;
}

function attemptsOf(rows: readonly EventRow[]): Map<string, Expected> {
  const found = new Map<string, Expected>();
  for (const [index, row] of rows.entries()) {
    const event = JSON.parse(row.data) as { isFree?: boolean; interruption?: string };
    const isLeft = event.interruption === 'left';
    if (index === 0 || !(ENDS_ATTEMPT.has(row.event) || isLeft)) continue;
    const isCrash = row.event === 'INTERRUPTED' && !event.isFree;
    let began = index - 1;
    while ((isCrash || isLeft) && JSON.parse(rows[began]!.data).interruption === 'cut') began -= 1;
    const resumedBy = attemptId(row.hash);
    found.set(attemptId(rows[began]!.hash), { state: rows[began]!.state, isCrash, resumedBy });
  }
  return found;
}

/** A probe is told as such, where the record has the phase that it was asked for. */
function sameState(name: string, wanted: string): boolean {
  return name === wanted || name === wanted.replace(/\.(work|persist)$/, '.probe');
}

function attemptId(hash: string): string {
  return createHash('sha256').update(`attempt\n${hash}`).digest('hex').slice(0, 16);
}

function bitsOf(id: string): string {
  if (id.includes('-')) return id.replaceAll('-', '');
  const bits = [...id].reduce((sum, digit) => sum * 32n + BigInt(CROCKFORD.indexOf(digit)), 0n);
  return bits.toString(16).padStart(32, '0');
}

function groupBy<T>(list: readonly T[], key: (one: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const one of list) {
    const group = groups.get(key(one));
    if (group) group.push(one);
    else groups.set(key(one), [one]);
  }
  return groups;
}
