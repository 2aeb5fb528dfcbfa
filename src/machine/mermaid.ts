/** The line as a Mermaid diagram, for docs and for people. */
import type { Plan } from './plan.ts';

export function mermaidOf(plan: Plan): string {
  const { chart } = plan;
  const states = chart.transitions.map(({ step, phase }) => `${step}.${phase}`);
  const arrows = states.flatMap((state) => {
    const done = chart.next(state, 'DONE');
    const handed = state.endsWith('.check') ? chart.next(state, 'HANDED_OFF') : undefined;
    const failed = state.endsWith('.validate') ? chart.next(state, 'FAILED') : undefined;
    return [
      `  ${idOf(state)} --> ${idOf(done)}`,
      ...(handed ? [`  ${idOf(state)} --> ${idOf(handed)}: handoff`] : []),
      ...(failed ? [`  ${idOf(state)} --> ${idOf(failed)}: rejected`] : []),
    ];
  });
  return [
    'stateDiagram-v2',
    ...states.map((state) => `  state "${state}" as ${idOf(state)}`),
    `  [*] --> ${idOf(chart.initial)}`,
    ...arrows,
    '  completed --> [*]',
    '',
  ].join('\n');
}

function idOf(state: string | undefined): string {
  return (state ?? 'completed').replaceAll(/[^a-zA-Z0-9]/g, '_');
}
