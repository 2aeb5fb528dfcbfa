/**
 * A task that nobody holds: what is in its way. The first of these that holds is the reason, for what
 * comes after it would not matter yet.
 */
import { isBlocked, LiveRoutes, whyBlocked } from '../../fleet/index.ts';
import { routeOf, SUSPECT_CRASHES, stallOf } from '../../store/index.ts';
import { leaving, whenDue } from './due.ts';
import type { TaskFacts } from './facts.ts';
import type { Finding } from './finding.ts';
import { gated } from './gates.ts';
import { dueEvidence, nowHint, waitOf } from './waits.ts';
import {
  ago,
  count,
  isSilent,
  list,
  livePods,
  podEvidence,
  podName,
  quoted,
  STALL_HINT,
  within,
} from './words.ts';

export function explainFree(facts: TaskFacts): Finding[] {
  const { row, now } = facts;
  const inTheWay =
    paused(facts) ??
    pinned(facts) ??
    unknown(facts) ??
    (row.runAt > now ? notYet(facts) : undefined) ??
    gated(facts) ??
    nobody(facts) ??
    blocked(facts) ??
    suspect(facts) ??
    whenDue(facts);
  return [inTheWay, ...late(facts)];
}

function paused(facts: TaskFacts): Finding | undefined {
  const { id, row, deeds } = facts;
  if (!row.isPaused) return undefined;
  const deed = deeds.find(({ what }) => what === 'pause');
  const by = deed ? `${quoted(deed.who)} paused it ${ago(facts, deed.at)}` : 'it is paused';
  return {
    code: 'paused',
    sentence: `It is paused: ${by}, and nobody goes on with it until it is resumed.`,
    evidence: deed ? [{ text: `paused by ${quoted(deed.who)}`, at: deed.at }] : [],
    hint: { text: 'let it go on', command: `fleetq resume ${id}` },
  };
}

function pinned(facts: TaskFacts): Finding | undefined {
  const { id, row, pods } = facts;
  if (row.pinnedTo === undefined) return undefined;
  const lives = pods.filter(({ journal }) => journal === row.pinnedTo);
  const last = lives.at(-1);
  const where = last ? `of ${podName(facts, last.pod)}` : quoted(row.pinnedTo);
  const there = livePods(facts).find(({ journal }) => journal === row.pinnedTo);
  const isThere = there !== undefined;
  const stall = there && stallOf(there);
  const how = isThere
    ? stall === undefined
      ? 'which is up and takes it next'
      : `which is up and cannot write its journal (${quoted(stall)})`
    : last
      ? `which was heard of ${ago(facts, last.beatAt)}`
      : 'which no pod that is known has';
  return {
    code: 'waiting-for-host',
    sentence: `It goes on with its own journal alone, ${where}, ${how}.`,
    evidence: [
      { text: `pinned to journal ${quoted(row.pinnedTo)}` },
      ...lives.slice(-3).map((each) => podEvidence(facts, each)),
    ],
    hint:
      stall !== undefined
        ? STALL_HINT
        : isThere
          ? { text: 'its records', command: `fleetq events ${id}` }
          : {
              text: 'start a process with that data directory',
              command: 'fleetq worker --data-dir …',
            },
  };
}

/** By the store: nobody who is up now, or ever was, has had it. */
function unknown({ row, known, pods, id }: TaskFacts): Finding | undefined {
  const isKnown =
    known.some((route) => route.startsWith(`${row.machine}@`)) ||
    pods.some(({ routes }) => routes.some((route) => route.startsWith(`${row.machine}@`)));
  // Where nobody has ever announced anything there was no fleet yet.
  if (isKnown || known.length === 0) return undefined;
  const names = [...new Set(known.map((route) => route.slice(0, route.lastIndexOf('@'))))];
  return {
    code: 'machine-unknown',
    sentence: `No pod has ever had a machine ${quoted(row.machine)}: check the name.`,
    evidence: [{ text: `machines that the fleet has had: ${list(names, 'none')}` }],
    hint: { text: 'if the name is wrong, end it', command: `fleetq cancel ${id}` },
  };
}

function notYet(facts: TaskFacts): Finding {
  const { row, id } = facts;
  const { waitFor, runAt } = row;
  switch (waitFor) {
    case 'version':
      return shelved(facts);
    case 'key':
      return {
        code: 'waiting-for-key',
        sentence:
          'The pod that took it last does not have the key its records are sealed with; ' +
          `the next one looks ${within(facts, runAt)}.`,
        evidence: [dueEvidence(runAt)],
        hint: { text: 'which keys are configured here', command: 'fleetq doctor' },
      };
    case 'throttle':
      return waitOf(facts, runAt) ?? awaitsApi(facts);
    case 'run':
      return follows(facts);
    case 'signal':
    case 'children':
    case 'host':
      return {
        code: 'waiting-for-other',
        sentence: `It waits for its ${waitFor}, until ${within(facts, runAt)} at the latest.`,
        evidence: [dueEvidence(runAt)],
        hint: { text: 'what it is', command: `fleetq run ${id}` },
      };
    default:
      return (waitFor === 'time' ? undefined : waitOf(facts, runAt)) ?? notDue(facts);
  }
}

function follows({ row, id }: TaskFacts): Finding {
  const { run, on } = row.follows ?? { run: id, on: 'end' };
  const until =
    on === 'end'
      ? `run ${run} has ended, however that is`
      : `run ${run} has completed; where that one has failed, until it is redriven and completes`;
  return {
    code: 'waiting-for-other',
    sentence: `It follows another run, and waits until ${until}.`,
    evidence: [{ text: `it is to follow run ${run}, on ${on}` }],
    hint: { text: 'what that one waits for', command: `fleetq explain ${run}` },
  };
}

/** Its records, which would say which one, are not to be seen here. */
function awaitsApi(facts: TaskFacts): Finding {
  const { runAt } = facts.row;
  return {
    code: 'throttled',
    sentence: `It waits for an API that had no room for it, and goes on ${within(facts, runAt)}.`,
    evidence: [dueEvidence(runAt)],
    hint: { text: 'how APIs are', command: 'fleetq throttles list' },
  };
}

function notDue(facts: TaskFacts): Finding {
  const { row, deeds } = facts;
  const deed = deeds.find(({ what }) => what === 'reschedule');
  const by = deed ? `${quoted(deed.who)} put it off ${ago(facts, deed.at)}` : 'it was put off';
  return {
    code: 'not-due',
    sentence: `It is not due yet: ${by}, and it is due ${within(facts, row.runAt)}.`,
    evidence: [dueEvidence(row.runAt)],
    hint: nowHint(facts),
  };
}

function shelved(facts: TaskFacts): Finding {
  const { row } = facts;
  const live = new LiveRoutes(livePods(facts));
  const route = routeOf(row);
  const why = isBlocked(live, row)
    ? whyBlocked(live, row)
    : live.podCount(route) > 0
      ? `pods have ${route}, but the one that took it last had another definition of it`
      : `no pod that was up could go on with ${route}`;
  return {
    code: 'waiting-for-version',
    sentence: `It waits for its version: ${why}. Pods look again ${within(facts, row.runAt)}.`,
    evidence: [routesEvidence(facts), dueEvidence(row.runAt)],
    hint: { text: 'what is in the way', command: 'fleetq plan' },
  };
}

function nobody(facts: TaskFacts): Finding | undefined {
  if (livePods(facts).length > 0) return undefined;
  const draining = facts.pods.filter((row) => row.status === 'draining' && !isSilent(facts, row));
  if (draining.length > 0) return leaving(facts, draining);
  const last = facts.pods.toSorted((a, b) => a.beatAt - b.beatAt).at(-1);
  const how = last ? `the last was heard of ${ago(facts, last.beatAt)}` : 'there has been none';
  return {
    code: 'no-pod',
    sentence: `It is due, and no pod is up to take it: ${how}.`,
    evidence: facts.pods.slice(-3).map((row) => podEvidence(facts, row)),
    hint: { text: 'start a pod', command: 'fleetq worker' },
  };
}

function blocked(facts: TaskFacts): Finding | undefined {
  const { row } = facts;
  const live = new LiveRoutes(livePods(facts));
  if (!isBlocked(live, row)) return undefined;
  return {
    code: 'no-route',
    sentence: `It is blocked: ${whyBlocked(live, row)}.`,
    evidence: [routesEvidence(facts)],
    hint: { text: 'which versions are live', command: 'fleetq machines' },
  };
}

function routesEvidence(facts: TaskFacts): Finding['evidence'][number] {
  const { machine } = facts.row;
  const live = livePods(facts).flatMap(({ routes }) => routes);
  const own = [...new Set(live)].filter((route) => route.startsWith(`${machine}@`)).sort();
  return { text: `versions of ${machine} that are up: ${list(own, 'none')}` };
}

function suspect(facts: TaskFacts): Finding | undefined {
  const { row, id } = facts;
  if (row.crashes < SUSPECT_CRASHES) return undefined;
  return {
    code: 'suspect',
    sentence:
      `It is a suspect, for ${count(row.crashes, 'process', 'processes')} died while it ran: it waits ` +
      'for a process of its own, one at a time, and one more death fails it.',
    evidence: [{ text: `crashes ${row.crashes}, claims ${row.claims}`, epoch: row.epoch }],
    hint: { text: 'where they died', command: `fleetq events ${id} --trace` },
  };
}

/** Beside whatever else is in its way. */
function late(facts: TaskFacts): Finding[] {
  const { row, now, id } = facts;
  if (row.deadlineAt === undefined || row.deadlineAt > now) return [];
  return [
    {
      code: 'deadline-passed',
      sentence: `Its deadline passed ${ago(facts, row.deadlineAt)}: whoever takes it next ends it.`,
      evidence: [{ text: 'the deadline', at: row.deadlineAt }],
      hint: { text: 'end it now', command: `fleetq cancel ${id}` },
    },
  ];
}
