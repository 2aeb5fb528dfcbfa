/** What a task waits for that other tasks, or people, hold: its turn, room in its queue, or a pause. */
import type { TaskFacts } from './facts.ts';
import type { Finding } from './finding.ts';
import { ago, quoted } from './words.ts';

export function gated(facts: TaskFacts): Finding | undefined {
  return turn(facts) ?? pausedMachine(facts) ?? pausedQueue(facts) ?? limited(facts);
}

function turn({ row, gate }: TaskFacts): Finding | undefined {
  if (row.waitFor !== 'turn') return undefined;
  const { holder } = gate ?? {};
  const behind = holder
    ? `run ${holder.id}, which is ${holder.status}, has it`
    : 'nobody has it, so it is about to be given';
  return {
    code: 'waiting-for-turn',
    sentence:
      `It waits for its turn: tasks with the serial key ${quoted(row.serialKey ?? '')} run one after ` +
      `the other, and ${behind}.`,
    evidence: holder ? [{ text: `run ${holder.id} is ${holder.status}` }] : [],
    hint: holder
      ? { text: 'why that one has not ended', command: `fleetq explain ${holder.id}` }
      : { text: 'what is in its queue', command: `fleetq queues show ${row.queue}` },
  };
}

function pausedMachine(facts: TaskFacts): Finding | undefined {
  const { row, gate } = facts;
  const { pausedMachine: paused } = gate ?? {};
  if (!paused) return undefined;
  return {
    code: 'machine-paused',
    sentence:
      `Its machine ${quoted(row.machine)} is paused: ${whoAndWhen(facts, paused)}, and nobody ` +
      'takes any of its tasks until it is resumed.',
    evidence: [{ text: `machine ${quoted(row.machine)} is paused`, at: paused.pausedAt }],
    hint: { text: 'let it go on', command: `fleetq queues resume --machine ${row.machine}` },
  };
}

function pausedQueue(facts: TaskFacts): Finding | undefined {
  const { row, gate } = facts;
  const { queue } = gate ?? {};
  if (!queue?.isPaused) return undefined;
  return {
    code: 'queue-paused',
    sentence:
      `Its queue ${quoted(row.queue)} is paused: ${whoAndWhen(facts, queue)}, and nobody takes ` +
      'anything from it until it is resumed.',
    evidence: [{ text: `queue ${quoted(row.queue)} is paused`, at: queue.pausedAt ?? facts.now }],
    hint: { text: 'let it go on', command: `fleetq queues resume ${row.queue}` },
  };
}

function limited({ row, gate, pods }: TaskFacts): Finding | undefined {
  const { queue } = gate ?? {};
  if (queue?.limit === undefined || queue.claimed < queue.limit) return undefined;
  const names = new Map(pods.map(({ pod, name }) => [pod as string, name]));
  const by = gate!.claimedBy.map(
    ({ pod, count }) => `${quoted(names.get(pod) ?? pod)} holds ${count}`,
  );
  return {
    code: 'queue-limited',
    sentence:
      `Its queue ${quoted(row.queue)} is full: ${queue.claimed} of at most ${queue.limit} of its ` +
      `tasks are claimed${by.length > 0 ? ` (${by.join(', ')})` : ''}.`,
    evidence: gate!.claimedBy.map(({ pod, count }) => ({ text: `holds ${count}`, pod })),
    hint: { text: 'let more of them run at once', command: `fleetq queues limit ${row.queue} …` },
  };
}

function whoAndWhen(
  facts: TaskFacts,
  {
    pausedBy,
    pausedAt,
  }: { readonly pausedBy?: string | undefined; readonly pausedAt?: number | undefined },
): string {
  const when = pausedAt === undefined ? '' : ` ${ago(facts, pausedAt)}`;
  return `${pausedBy === undefined ? 'somebody' : quoted(pausedBy)} paused it${when}`;
}
