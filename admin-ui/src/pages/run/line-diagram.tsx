/** The machine's line: every phase of every step, where the run is on it, and what each has taken. */
import { showSpan } from '../../format/time.ts';
import { kindOf } from '../../format/words.ts';
import type { Machine, Run } from '../../services/types.ts';
import type { PhaseTime } from './course.ts';

type NodeState = 'passed' | 'skipped' | 'current' | 'failed' | 'ahead';

interface Node {
  readonly step: string;
  readonly phase: string;
  readonly state: NodeState;
  readonly time: PhaseTime | undefined;
}

const NODE_WIDTH = 84;
const STEP_GAP = 22;
const [TOP, RADIUS, HEIGHT] = [44, 9, 104];

const WORD: Record<NodeState, string> = {
  passed: 'passed',
  skipped: 'not needed',
  current: 'here',
  failed: 'ended here',
  ahead: 'ahead',
};

/** The phases of the line; of a machine that is not known here, those that are on record. */
export function phasesOf(machine: Machine | undefined, seen: readonly string[]): readonly string[] {
  return machine?.transitions?.map(({ step, phase }) => `${step}.${phase}`) ?? seen;
}

function nodesOf(
  run: Run,
  at: string | undefined,
  phases: readonly string[],
  times: ReadonlyMap<string, PhaseTime>,
): Node[] {
  const here = at === undefined ? -1 : phases.indexOf(at);
  const kind = kindOf(run);
  const isOver = kind === 'completed' || kind === 'handedOff';
  return phases.map((name, index) => {
    const dot = name.lastIndexOf('.');
    const time = times.get(name);
    const isPast = isOver || index < here;
    const state: NodeState =
      index === here && !isOver
        ? run.finishedAt === undefined
          ? 'current'
          : 'failed'
        : isPast
          ? time
            ? 'passed'
            : 'skipped'
          : 'ahead';
    return { step: name.slice(0, dot), phase: name.slice(dot + 1), state, time };
  });
}

interface LineDiagramProps {
  readonly run: Run;
  readonly at: string | undefined;
  readonly phases: readonly string[];
  readonly times: ReadonlyMap<string, PhaseTime>;
}

export function LineDiagram({ run, at, phases, times }: LineDiagramProps) {
  const nodes = nodesOf(run, at, phases, times);
  let x = 10;
  const placed = nodes.map((node, index) => {
    const isNew = index > 0 && nodes[index - 1]!.step !== node.step;
    if (isNew) x += STEP_GAP;
    const placedAt = x + NODE_WIDTH / 2;
    x += NODE_WIDTH;
    return { ...node, x: placedAt, isFirst: index === 0 || isNew };
  });
  const steps = placed.filter(({ isFirst }) => isFirst);
  return (
    <div className="diagram" tabIndex={0} role="group" aria-label="The line of the machine">
      <svg
        width={x + 10}
        height={HEIGHT}
        role="img"
        aria-label={sayLine(nodes)}
        data-kind={kindOf(run)}
      >
        {steps.map(({ step, x: from }, index) => {
          const next = steps[index + 1];
          const until = next ? next.x - NODE_WIDTH / 2 - STEP_GAP : x;
          return (
            <g key={step}>
              <rect
                className="step-box"
                x={from - NODE_WIDTH / 2}
                y={2}
                rx={7}
                width={until - from + NODE_WIDTH / 2}
                height={HEIGHT - 4}
              />
              <text className="step-name" x={from - NODE_WIDTH / 2 + 10} y={20}>
                {step}
              </text>
            </g>
          );
        })}
        {placed.map((node, index) => {
          const before = placed[index - 1];
          return (
            <g key={`${node.step}.${node.phase}`} data-state={node.state}>
              {before && (
                <path
                  className="link"
                  d={`M${before.x + RADIUS + 3} ${TOP}H${node.x - RADIUS - 3}`}
                />
              )}
              <Mark x={node.x} state={node.state} />
              <text className="phase-name" x={node.x} y={TOP + 25}>
                {node.phase}
              </text>
              <text className="phase-time" x={node.x} y={TOP + 41}>
                {timeText(node)}
              </text>
            </g>
          );
        })}
      </svg>
    </div>
  );
}

function timeText({ time, state }: Node): string {
  if (!time) return state === 'skipped' ? 'not needed' : '';
  return `${showSpan(time.spentMs)}${time.tries > 1 ? ` ×${time.tries}` : ''}`;
}

function Mark({ x, state }: { x: number; state: NodeState }) {
  return (
    <>
      <circle className="node" cx={x} cy={TOP} r={RADIUS} />
      {state === 'passed' && <path className="node-mark" d={`M${x - 4} ${TOP}l3 3.2l5 -6`} />}
      {state === 'failed' && (
        <path className="node-mark" d={`M${x - 3.5} ${TOP - 3.5}l7 7m0 -7l-7 7`} />
      )}
      {state === 'current' && <circle className="node-mark node-dot" cx={x} cy={TOP} r={3.5} />}
      {state === 'skipped' && <path className="node-mark" d={`M${x - 4} ${TOP}h8`} />}
    </>
  );
}

function sayLine(nodes: readonly Node[]): string {
  return nodes.map(({ step, phase, state }) => `${step}.${phase} ${WORD[state]}`).join(', ');
}
