/** A mend undone whose kept seed, which has come to another course, notices no more: small seeds do. */
import { type Mutant, tool } from './mutant.ts';

/** The mend undone, and where to begin with small seeds that notice. */
function undone(
  name: string,
  breaks: string,
  change: Mutant['changes'][number],
  shows: RegExp,
  from: number,
): Mutant {
  const seeds = ['--seeds', '8', '--from', `${from}`];
  const command = tool('proof/main.ts', 'simulate', ...seeds, '--small', '--first');
  return { name, breaks, changes: [change], command, shows };
}

export const KEPT: readonly Mutant[] = [
  undone(
    'two-lives-at-once',
    'a pod that is taken for dead while it joins has two lives at once',
    { file: 'src/fleet/pod.ts', find: '    if (this.#isJoining) return;\n', put: '' },
    /I10: .* Infinity ms after its deadline/,
    9,
  ),
];
