/** What can be wrong with a question. */
import { FleetqError, type FleetqErrorOptions } from '../ground/index.ts';

/** Where in the text, counted from 0. */
export interface Spot {
  readonly from: number;
  readonly until: number;
}

/** A filter that says nothing that could be looked for. */
export class QueryError extends FleetqError {
  readonly code = 'FLEETQ_BAD_FILTER';
  readonly verdict = 'abort';
  /** For whoever marks it where it was typed. */
  readonly spot: Spot;
  constructor(spot: Spot, problem: string, options: FleetqErrorOptions = {}) {
    super(`the filter is wrong at character ${spot.from + 1}: ${problem}`, options);
    this.spot = spot;
  }
}
