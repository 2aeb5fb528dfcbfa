// biome-ignore-all lint/suspicious/noTemplateCurlyInString: it quotes source that has templates
/**
 * Bugs that the slower tools have to notice: the exhaustive search, the crash table in real processes,
 * and the comparison of the stores. Some are planted elsewhere too, for a test that is quicker; here
 * they show that the tool would have found them alone.
 */

import { type Command, type Mutant, tests, tool } from './mutant.ts';
import { HISTORIES } from './plants-history.ts';
import { JOURNALS } from './plants-journal.ts';
import { PODS } from './plants-pods.ts';

const ELSEWHERE: readonly Mutant[] = [...HISTORIES, ...JOURNALS, ...PODS];

/** The same bug, noticed by something else. */
function again(name: string, by: string, command: Command, shows: RegExp): Mutant {
  const found = ELSEWHERE.find((mutant) => mutant.name === name);
  if (!found) throw new Error(`nothing is planted as ${name}`);
  return { ...found, name: `${name}-${by}`, command, shows, isSlow: true };
}

const striking = (...flags: readonly string[]) =>
  tool('proof/main.ts', 'exhaustive', '--json', '--depth', '0', ...flags);
const crashPoint = (row: string) =>
  tests('proof/crash-points/crash-points.proof.test.ts', `crash table ${row}`);
const comparing = (store: string, sequences: number) =>
  tool('proof/main.ts', 'differential', '--stores', store, '--sequences', String(sequences));

export const TOOLS: readonly Mutant[] = [
  {
    name: 'redrive-of-any-generation',
    breaks:
      'a redrive whose answer was lost, and that is pressed again, is carried out twice (I30)',
    changes: [
      {
        file: 'src/store/decide.ts',
        find: 'revisionOf(task).startsWith(`${seen}.`);',
        put: 'seen <= `${task.generation}`;',
      },
      {
        file: 'src/store/decide.ts',
        find: "if (task.status === 'completed' && !isFresh) {",
        put: "if (task.status === 'pending' && !isFresh) {",
      },
    ],
    command: striking('--only', 'redrive', '--ways', 'cut,kept'),
    shows: /I30/,
  },
  again(
    'disk-ignored-at-adoption',
    'struck',
    striking('--only', 'adopt', '--ways', 'kept', '--stride', '5'),
    /I19/,
  ),
  // Without a stride: it shows only where the answer to a claim is lost, at few of all the points.
  again('reconcile-off', 'struck', striking('--only', 'work', '--ways', 'cut'), /I37/),
  again(
    'history-ignored-at-take-over',
    'struck',
    striking('--only', 'sweep', '--ways', 'kept', '--stride', '29'),
    /I19/,
  ),
  again(
    'timers-not-armed-again',
    'killed',
    crashPoint('34, .* of a local run'),
    /34, kill, disk kept: .* of a local run/,
  ),
  again('evidence-not-written', 'killed', crashPoint('10, kill, disk kept'), /10, kill, disk kept/),
  {
    name: 'claim-taken-for-a-boot',
    breaks:
      'a pod whose journal was salvaged counts boots from the epoch of a claim, and cannot join',
    changes: [
      {
        file: 'src/journal/salvage.ts',
        find: 'events.filter(({ run }) => local.has(run)).map(',
        put: "events.filter(({ run }) => local.size >= 0 && run !== '').map(",
      },
    ],
    command: crashPoint('37, .* its header is broken'),
    shows: /37, tear, disk kept: .* its header is broken/,
    isSlow: true,
  },
  {
    name: 'redrive-without-generation-compared',
    breaks: 'a redrive that is pressed twice makes two generations, in one of the stores (I30)',
    changes: [
      {
        // What is decided for all stores alike no comparison of them shows: only what one asks.
        file: 'src/store/postgres/act.ts',
        find: 'const verdict = judge(act, {',
        put: `const isBlind = deed.what === 'redrive';
  const verdict = judge(isBlind ? { ...act, ifRevision: undefined } : act, {`,
      },
    ],
    command: comparing('skip-locked', 60),
    shows: /redrive/,
    isSlow: true,
  },
];
