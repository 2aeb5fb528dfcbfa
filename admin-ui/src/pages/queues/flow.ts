/** What people may do to a queue or a machine, and what it comes to before it is done. */
import { plural, showCount } from '../../format/words.ts';
import type { Queue } from '../../services/fleet-types.ts';
import { shellWord } from '../throttles/throttle-words.ts';

export type What =
  | 'queue.limit'
  | 'queue.pause'
  | 'queue.resume'
  | 'machine.pause'
  | 'machine.resume';

export interface Wish {
  readonly what: What;
  readonly name: string;
  /** Of a limit, as it was typed: empty takes it away. */
  readonly limit: string;
}

export interface Effects {
  readonly effects: readonly string[];
  /** Why it cannot be. */
  readonly wrong?: string | undefined;
}

const LIMIT_MAX = 1_000_000;
const EVERYWHERE = 'in the whole fleet';
const isOrAre = (count: number) => (count === 1 ? 'is' : 'are');
const untilEnded = (over: number) =>
  `until ${showCount(over)} of them ${over === 1 ? 'has' : 'have'} ended`;
const ALL_GO_ON = 'What pods have in hand goes on to its end.';

/** `queue` is as it is now; undefined where nothing is in it and nothing was said of it. */
export function effectsOf(wish: Wish, queue: Queue | undefined): Effects {
  if (wish.name === '') return { effects: [], wrong: 'Say which one.' };
  switch (wish.what) {
    case 'queue.limit':
      return wish.limit.trim() === '' ? unlimited(queue) : limited(wish.limit.trim(), queue);
    case 'queue.pause':
      return {
        effects: ['Nobody takes a task from it until somebody resumes it.', ...stays(queue)],
      };
    case 'queue.resume':
      return { effects: ['Pods take tasks from it again.', ...ready(queue)] };
    case 'machine.pause':
      return {
        effects: ['Nobody takes a task of it, in any queue and of any version.', ALL_GO_ON],
      };
    case 'machine.resume':
      return { effects: ['Pods take its tasks again, those first that are due for longest.'] };
  }
}

function limited(text: string, queue: Queue | undefined): Effects {
  const limit = Number(text);
  if (!/^\d+$/.test(text) || limit > LIMIT_MAX) {
    const wrong = 'A limit is a whole number from 0 to 1,000,000; left empty, there is none.';
    return { effects: [], wrong };
  }
  const from = queue?.limit === undefined ? '' : `, instead of ${showCount(queue.limit)} now`;
  const most =
    limit === 0
      ? `Nothing more is claimed from it${from}.`
      : `At most ${plural(limit, 'task')} of it ${isOrAre(limit)} claimed at once, ${EVERYWHERE}${from}.`;
  const claimed = queue?.claimed ?? 0;
  const over = claimed - limit;
  const now =
    over > 0
      ? `${showCount(claimed)} are claimed: they go on, and nothing is added ${untilEnded(over)}.`
      : `${showCount(claimed)} of it ${isOrAre(claimed)} claimed now.`;
  return { effects: [most, now, ...(queue?.isPaused ? ['It stays paused.'] : [])] };
}

function unlimited(queue: Queue | undefined): Effects {
  const was =
    queue?.limit === undefined
      ? 'It has no limit now.'
      : `Its limit of ${showCount(queue.limit)} is taken away.`;
  return { effects: [was, 'Pods take as much of it as they have room for.'] };
}

function stays(queue: Queue | undefined): string[] {
  const { claimed = 0, pending = 0 } = queue ?? {};
  return [
    claimed === 0 ? 'Nothing of it is in hand.' : `${plural(claimed, 'run')} in hand: ${GO_ON}`,
    pending === 0 ? 'Nothing is pending in it.' : `${plural(pending, 'task')} pending: kept.`,
  ];
}

const GO_ON = 'on to their end.';

function ready(queue: Queue | undefined): string[] {
  const { pending = 0, limit } = queue ?? {};
  const within = limit === undefined ? '' : `, ${showCount(limit)} at once at most`;
  return pending === 0
    ? ['Nothing is pending in it.']
    : [`${plural(pending, 'task')} pending${within}.`];
}

/** The same from a shell. */
export function commandOf({ what, name, limit }: Wish): string {
  const word = shellWord(name === '' ? 'NAME' : name);
  switch (what) {
    case 'queue.limit':
      return `fleetq queues limit ${word} ${limit.trim() === '' ? 'none' : limit.trim()}`;
    case 'queue.pause':
      return `fleetq queues pause ${word}`;
    case 'queue.resume':
      return `fleetq queues resume ${word}`;
    case 'machine.pause':
      return `fleetq queues pause --machine ${word}`;
    case 'machine.resume':
      return `fleetq queues resume --machine ${word}`;
  }
}

/** As the API wants it. */
export function bodyOf({ what, name, limit }: Wish): object {
  if (what !== 'queue.limit') return { what, name };
  return { what, name, limit: limit.trim() === '' ? null : Number(limit) };
}
