/** The machines of the same project, on the day after. */
import { defineMachine } from 'fleetq';
import { input, rest, scribe } from '../book.mjs';

const CODE = 'v2';

function twoSteps(name, version, [first, second]) {
  const step = scribe(CODE, name, version);
  return defineMachine({
    name,
    version,
    input,
    steps: (line) => line.step(first, step(first)).sleep('rest', rest).step(second, step(second)),
  });
}

/** As it was. */
export const steady = twoSteps('steady', 1, ['fetch', 'keep']);
/** Both versions, side by side: no run has to change. */
export const besideOne = twoSteps('beside', 1, ['fetch', 'keep']);
export const besideTwo = twoSteps('beside', 2, ['load', 'store']);
/** A step at the end: what is on record is how it begins. */
const growing = scribe(CODE, 'grown', 2);
export const grown = defineMachine({
  name: 'grown',
  version: 2,
  input,
  steps: (line) =>
    line
      .step('fetch', growing('fetch'))
      .sleep('rest', rest)
      .step('keep', growing('keep'))
      .step('tell', growing('tell')),
});
/** Another line, and where a run of the former one goes on in it. */
const reshaping = scribe(CODE, 'reshaped', 2);
export const reshaped = defineMachine({
  name: 'reshaped',
  version: 2,
  input,
  steps: (line) =>
    line.step('load', reshaping('load')).sleep('rest', rest).step('store', reshaping('store')),
  upgrade: {
    1: (old) =>
      'fetch' in old.state
        ? old.resumeAt('store', { input: old.input, state: { load: old.state.fetch } })
        : old.restart(old.input),
  },
});
/** The steps of the former one in another order: no run of it may go on here. */
export const swapped = twoSteps('swapped', 2, ['keep', 'fetch']);
/** Was not there before. */
export const novel = twoSteps('novel', 1, ['fetch', 'keep']);
