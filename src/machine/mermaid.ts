/** The line as a Mermaid diagram, for docs and for people. */
import { isFinal, stateOf } from './chart.ts';
import type { Plan } from './plan.ts';

export function mermaidOf(plan: Plan): string {
  const { chart } = plan;
  const states = chart.transitions.map(stateOf);
  // Numbered: of the characters a name may have, Mermaid's ids take some only.
  const ids = new Map(states.map((state, index) => [state, `s${index + 1}`]));
  const idOf = (state: string) => ids.get(state) ?? state;
  const arrows = chart.transitions.flatMap(({ step, phase }) => {
    const from = stateOf({ step, phase });
    return [
      { from, to: chart.next(from, 'DONE'), why: '' },
      {
        from,
        to: phase === 'check' ? chart.next(from, 'HANDED_OFF') : undefined,
        why: ': handoff',
      },
      {
        from,
        to: phase === 'validate' ? chart.next(from, 'FAILED') : undefined,
        why: ': rejected',
      },
    ].filter((arrow): arrow is typeof arrow & { to: string } => arrow.to !== undefined);
  });
  const ends = new Set(arrows.map(({ to }) => to).filter(isFinal));
  return [
    'stateDiagram-v2',
    ...states.map((state) => `  state "${state}" as ${idOf(state)}`),
    `  [*] --> ${idOf(chart.initial)}`,
    ...arrows.map(({ from, to, why }) => `  ${idOf(from)} --> ${idOf(to)}${why}`),
    ...[...ends].map((end) => `  ${end} --> [*]`),
    '',
  ].join('\n');
}
