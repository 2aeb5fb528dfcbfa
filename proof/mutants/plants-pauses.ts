/** Pauses that are not heeded, noticed by the judges of the simulation: people join one seed in seven. */
import { type Mutant, tool } from './mutant.ts';
import { ACTS } from './plants-acts.ts';

/** The same bug as elsewhere, left to a storm to show. */
function inAStorm(name: string, from: number, shows: RegExp): Mutant {
  const found = ACTS.find((mutant) => mutant.name === name);
  if (!found) throw new Error(`nothing is planted as ${name}`);
  const seeds = ['--seeds', '40', '--from', `${from}`];
  const command = tool('proof/main.ts', 'simulate', ...seeds, '--small', '--first');
  return { ...found, name: `${name}-in-a-storm`, command, shows };
}

export const PAUSES: readonly Mutant[] = [
  inAStorm('pause-not-passed-on', 1, /I40: .* told to pause it/),
  inAStorm('paused-one-claimed', 1, /I40: .* is paused, and somebody goes on with it/),
  inAStorm('paused-one-adopted', 188, /I40: .* is to pause, and is given to/),
];
