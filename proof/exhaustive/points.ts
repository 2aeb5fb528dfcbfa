/**
 * The points of a course at which a process may be struck, numbered as the course comes to them. Up to
 * its first strike a course is the same every time, so a number names one point for ever.
 *
 *   record   before ──fsync──▶ after            what the journal writes in one transaction
 *   call     before ──store──▶ committed ──▶ answered
 *   phase    begun ──▶ half ──▶ done            a handler, its record not yet written
 */
import type { CallFate } from '../simulate/network.ts';
import type { World } from '../simulate/world.ts';

export type Kind = 'record' | 'call' | 'phase';
export type Moment = 'before' | 'after' | 'committed' | 'answered' | 'begun' | 'half' | 'done';

/**
 * kept, late, lost: it is killed, and comes back at once, after others have taken over, or with an empty
 * disk. pause: it stands still past its deadline. cut: the call is carried out and its answer is lost.
 * refused: the call is not carried out. full: the disk takes nothing more for a while. torn: the power goes
 * while a commit is half written.
 */
export type Way = 'kept' | 'late' | 'lost' | 'pause' | 'cut' | 'refused' | 'full' | 'torn';

export const KILLS: readonly Way[] = ['kept', 'lost'];
export const WAYS: readonly Way[] = [
  'kept',
  'lost',
  'late',
  'pause',
  'cut',
  'refused',
  'full',
  'torn',
];

export interface Point {
  readonly index: number;
  readonly atMs: number;
  readonly who: string;
  readonly kind: Kind;
  /** The verb, the phase, or the records: of a commit it is known only when it has been written. */
  what: string;
  readonly moment: Moment;
}

export interface Strike {
  readonly at: number;
  readonly way: Way;
}

/** What becomes of a call whose process is struck before it is sent. */
export const FATES: Partial<Record<Way, CallFate>> = {
  pause: 'late',
  cut: 'inDoubt',
  refused: 'refused',
};

/** Whether this can happen there, and is not the same as something else. */
export function canStrike({ who, kind, moment }: Point, way: Way): boolean {
  // Nobody takes over from whoever wants something done.
  if (who === 'client' && way === 'late') return false;
  if (way === 'cut' || way === 'refused') return kind === 'call' && moment === 'before';
  if (way === 'full') return kind === 'record' && moment === 'after';
  if (way === 'torn') return kind === 'record' && moment === 'before';
  // A pause takes effect between two turns: before a commit is after the phase that led to it.
  if (way === 'pause') return !(kind === 'record' && moment === 'before');
  return true;
}

export function nameOf({ who, kind, what, moment }: Point): string {
  return `${who} ${kind} ${what} ${moment}`;
}

export class Points {
  readonly all: Point[] = [];
  readonly #world: World;
  readonly #strikes: Map<number, Way>;
  /** Those that were carried out, with the point each of them hit. */
  readonly struck: Point[] = [];

  constructor(world: World, strikes: readonly Strike[]) {
    this.#world = world;
    this.#strikes = new Map(strikes.map(({ at, way }) => [at, way]));
  }

  get isOver(): boolean {
    return this.struck.length === this.#strikes.size;
  }

  /** The course has come to a point: answers how it is to be struck there, if it is. */
  reach(who: string, kind: Kind, what: string, moment: Moment): Way | undefined {
    const index = this.all.length;
    const point: Point = { index, atMs: this.#world.nowMs, who, kind, what, moment };
    this.all.push(point);
    const way = this.#strikes.get(index);
    if (way === undefined) return undefined;
    this.struck.push(point);
    this.#world.say(who, `is struck (${way}) at point ${index}: ${kind} ${what} ${moment}`);
    return way;
  }
}
