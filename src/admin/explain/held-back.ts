/** A task that is due, and that pods with room leave where it is: an API that it calls has none. */
import type { PodRow } from '../../store/index.ts';
import type { ThrottleView } from '../../throttle/index.ts';
import type { TaskFacts } from './facts.ts';
import type { Finding } from './finding.ts';
import { dueEvidence, shellWord, waitingRecord } from './waits.ts';
import { count, lasting, quoted } from './words.ts';

interface Cause {
  /** Undefined where its records, which would say which one, are not to be seen here. */
  readonly api: string | undefined;
  readonly view: ThrottleView | undefined;
  readonly how: 'its own' | 'of its machine' | 'of a pod';
}

/** Undefined where no API is known to be in its way. Before it is late, only one that has no room is. */
export function heldBack(
  facts: TaskFacts,
  able: readonly PodRow[],
  isLate: boolean,
): Finding | undefined {
  const cause = causeOf(facts, able);
  if (!cause || able.length === 0) return undefined;
  const isFull = cause.view !== undefined && hasNoRoom(cause.view);
  if (!isLate && (!isFull || cause.how === 'of a pod')) return undefined;
  return {
    code: 'held-back',
    sentence: `It has been due for ${lasting(facts, facts.row.runAt)}, and ${sentenceOf(cause, able)}.`,
    evidence: [dueEvidence(facts.row.runAt), ...evidenceOf(cause)],
    hint:
      cause.api === undefined
        ? { text: 'how APIs are', command: 'fleetq throttles list' }
        : { text: 'how the API is', command: `fleetq throttles show ${shellWord(cause.api)}` },
  };
}

/** What it waits for by its own records; else what others of its machine do; else what pods tell of. */
function causeOf(
  { row, records, throttles = [], kin = [] }: TaskFacts,
  able: readonly PodRow[],
): Cause | undefined {
  const of = (api: string | undefined, how: Cause['how']): Cause => ({
    api,
    view: throttles.find((view) => view.api === api),
    how,
  });
  if (row.waitFor === 'throttle') {
    const { event } = waitingRecord(records) ?? {};
    return of(event && 'api' in event ? event.api : undefined, 'its own');
  }
  if (kin[0] !== undefined) return of(kin[0], 'of its machine');
  const isTold = ({ pods }: ThrottleView) =>
    pods.some((of) => able.some(({ pod }) => pod === of.pod));
  const full = throttles.filter((view) => isTold(view) && hasNoRoom(view));
  const most = full.toSorted((a, b) => (b.now?.demand ?? 0) - (a.now?.demand ?? 0))[0];
  return most && of(most.api, 'of a pod');
}

function hasNoRoom({ breaker, pausedMs, now, cap = 0 }: ThrottleView): boolean {
  if (!now) return false;
  const isAll = now.inFlight >= Math.max(1, Math.floor(cap));
  return breaker !== 'closed' || pausedMs > 0 || now.waiting > 0 || now.throttled > 0 || isAll;
}

function sentenceOf({ api, view, how }: Cause, able: readonly PodRow[]): string {
  const name = api === undefined ? 'an API that it calls' : `the API ${quoted(api)}`;
  const no = `${name} has no room for more${view ? ` (${quoted(view.state)})` : ''}`;
  switch (how) {
    case 'its own':
      return `pods hold it back: ${no}`;
    case 'of its machine':
      return `pods hold it back, as others of its machine: ${no}`;
    default:
      // Which APIs a machine calls is not known before it has had to wait for one.
      return (
        `${count(able.length, 'pod')} that could take it ${able.length === 1 ? 'has' : 'have'} not: ` +
        `runs that call an API which is busy are held back, and ${no}`
      );
  }
}

function evidenceOf({ view }: Cause): Finding['evidence'] {
  return (view?.pods ?? []).slice(0, 5).map(({ pod, name, share, inFlight, waiting }) => ({
    text:
      `pod ${quoted(name)} has ${inFlight} calls of it out, of a share of ${Math.round(share * 10) / 10}, ` +
      `and ${waiting} wait there`,
    pod,
  }));
}
