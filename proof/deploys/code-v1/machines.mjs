/** The machines of a project, on the day before its deploy. */
import { defineMachine } from 'fleetq';
import { input, rest, scribe } from '../book.mjs';

/** Two steps with a rest between them, in which a run may meet a deploy. */
function twoSteps(name, [first, second]) {
  const step = scribe('v1', name, 1);
  return defineMachine({
    name,
    version: 1,
    input,
    steps: (line) => line.step(first, step(first)).sleep('rest', rest).step(second, step(second)),
  });
}

/** The same in both. */
export const steady = twoSteps('steady', ['fetch', 'keep']);
/** The next code has this version beside its own. */
export const beside = twoSteps('beside', ['fetch', 'keep']);
/** Gets a step more at its end. */
export const grown = twoSteps('grown', ['fetch', 'keep']);
/** Becomes another line, with an upgrade. */
export const reshaped = twoSteps('reshaped', ['fetch', 'keep']);
/** Has its steps swapped, without one. */
export const swapped = twoSteps('swapped', ['fetch', 'keep']);
/** Is deleted. */
export const olden = twoSteps('olden', ['fetch', 'keep']);
