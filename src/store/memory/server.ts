/** Which server the tables are on: another one that takes over counts one up, and has epochs of its own. */
import { raised, TIMELINE_EPOCHS } from '../bounds.ts';
import { storeMoved } from '../errors.ts';

export class Server {
  /** There is no other server that could take over, unless a test says so. */
  timeline = '1';

  /** The epoch of a new owner: none that a server before this one may have given out. */
  ownerEpoch(epoch: number): number {
    const timeline = Number.parseInt(this.timeline, 16);
    return raised(timeline > 1 ? Math.max(epoch, timeline * TIMELINE_EPOCHS) : epoch);
  }

  /** What is meant for another server comes too early, or too late. */
  isMeant(timeline: string | undefined): boolean {
    return timeline === undefined || timeline === this.timeline;
  }

  checkTimeline(timeline: string | undefined): void {
    if (!this.isMeant(timeline)) throw storeMoved();
  }
}
