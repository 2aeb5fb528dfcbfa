/** What the simulation had found once, undone: kept seeds that have come to other courses notice no more. */
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
  const command = tool('simulation/main', ...seeds, '--small', '--first');
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
  undone(
    'last-word-after-the-removal',
    'the last record of a run that was lost comes to the disk after its beginning was removed',
    {
      file: 'src/engine/holder.ts',
      find: 'ids.filter((id) => isGone(id) && !runs.letGo.has(id))',
      put: 'ids.filter(isGone)',
    },
    /holds|I12|I13|defect/,
    1,
  ),
];
