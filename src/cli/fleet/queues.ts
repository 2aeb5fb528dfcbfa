/** fleetq queues list | show | limit | pause | resume: queues, and machines that stand still. */
import { isoTime, show } from '../../ground/index.ts';
import { type FlowDeed, LIMIT_MAX, type QueueRow } from '../../store/index.ts';
import type { Execute, Options } from '../command.ts';
import { UsageError } from '../errors.ts';
import { Exit } from '../exit.ts';
import { readKey } from '../input.ts';
import type { Output } from '../output.ts';
import type { Column } from '../table.ts';
import { reasonFor, requestIdOf, whoami } from './acting.ts';
import { withStore } from './open.ts';

const COLUMNS: readonly Column<QueueRow>[] = [
  { head: 'QUEUE', text: (row) => row.queue, isElastic: true },
  { head: 'PENDING', text: (row) => `${row.pending}`, align: 'right' },
  { head: 'WAITING', text: (row) => `${row.waiting}`, align: 'right' },
  { head: 'CLAIMED', text: (row) => `${row.claimed}`, align: 'right' },
  { head: 'LIMIT', text: (row) => `${row.limit ?? '–'}`, align: 'right' },
  { head: 'PAUSED', text: pausedText },
];

function pausedText({ isPaused, pausedBy, pausedAt }: QueueRow): string {
  if (!isPaused) return '';
  return `by ${pausedBy ?? 'somebody'}${pausedAt === undefined ? '' : ` at ${isoTime(pausedAt)}`}`;
}

export const list: Execute = ({ config, output }) =>
  withStore(config, async (store) => {
    const [queues, machines] = [await store.queues(), await store.pausedMachines()];
    if (output.isJson) output.json({ queues, pausedMachines: machines });
    else {
      output.table(queues, [...COLUMNS]);
      for (const { machine, pausedBy, pausedAt } of machines) {
        output.note(
          `machine ${machine} is paused: by ${pausedBy ?? 'somebody'} at ${isoTime(pausedAt)}`,
        );
      }
    }
    return queues.length > 0 ? Exit.ok : Exit.nothingFound;
  });

export const showOne: Execute = ({ config, output }, _, queue) =>
  withStore(config, async (store) => {
    const name = readKey(queue, 'the queue')!;
    const row = (await store.queues()).find((each) => each.queue === name);
    if (!row) {
      output.note(`nothing is in a queue ${show(name)}, and it has no limit`);
      return Exit.nothingFound;
    }
    if (output.isJson) output.json(row);
    else showQueue(row, output);
    return Exit.ok;
  });

function showQueue(row: QueueRow, output: Output): void {
  const { paint } = output;
  const words: readonly (readonly [string, string])[] = [
    ['queue', row.queue],
    ['pending', `${row.pending}`],
    ['waiting', `${row.waiting}`],
    ['claimed', row.limit === undefined ? `${row.claimed}` : `${row.claimed} of ${row.limit}`],
    ['paused', row.isPaused ? pausedText(row) : 'no'],
  ];
  for (const [name, text] of words) output.line(`${paint('gray', name.padEnd(10))} ${text}`);
}

export const limit: Execute = (context, options, queue, count) => {
  const name = readKey(queue, 'the queue')!;
  return change(context, options, { what: 'queue.limit', queue: name, limit: limitOf(count) });
};

function limitOf(text: string | undefined): number | undefined {
  if (text === 'none') return undefined;
  const count = Number(text);
  if (/^\d+$/.test(text ?? '') && count <= LIMIT_MAX) return count;
  throw new UsageError(`the limit must be a whole number up to ${LIMIT_MAX}, got ${show(text)}`, {
    hint: "'none' takes the limit away; 0 lets nothing be claimed",
  });
}

function standing(what: 'pause' | 'resume'): Execute {
  return (context, options, queue) => {
    const [name, machine] = [readKey(queue, 'the queue'), readKey(options['machine'], '--machine')];
    if ((name === undefined) === (machine === undefined)) {
      throw new UsageError(`name a queue, or a machine with --machine, to ${what}`);
    }
    const deed: FlowDeed =
      machine === undefined
        ? { what: `queue.${what}`, queue: name! }
        : { what: `machine.${what}`, machine };
    return change(context, options, deed);
  };
}

export const pause = standing('pause');
export const resume = standing('resume');

async function change(
  { config, output }: Parameters<Execute>[0],
  options: Options,
  deed: FlowDeed,
): ReturnType<Execute> {
  const requestId = requestIdOf(options['requestId']);
  const isDryRun = options['dryRun'] === true;
  const reason = reasonFor(options['reason']);
  const answer = await withStore(config, (store) =>
    store.changeFlow({ requestId, who: whoami(), via: 'cli', deed, reason, isDryRun }),
  );
  const line = said(deed);
  if (output.isJson) output.json({ ...deed, answer: answer.kind, ...answer, isDryRun, requestId });
  if (isDryRun) output.note(`only tried: nothing was changed; otherwise: ${line}`);
  else if (answer.kind === 'already') output.note(`nothing to do: ${line} already`);
  else if (answer.isRepeated) output.note(`had been done by this request: ${line}`);
  else if (!output.isJson) output.line(line);
  return Exit.ok;
}

function said(deed: FlowDeed): string {
  switch (deed.what) {
    case 'queue.limit':
      return deed.limit === undefined
        ? `queue ${deed.queue} has no limit`
        : `queue ${deed.queue} has a limit of ${deed.limit}`;
    case 'queue.pause':
      return `queue ${deed.queue} is paused`;
    case 'queue.resume':
      return `queue ${deed.queue} goes on`;
    case 'machine.pause':
      return `machine ${deed.machine} is paused`;
    default:
      return `machine ${deed.machine} goes on`;
  }
}
