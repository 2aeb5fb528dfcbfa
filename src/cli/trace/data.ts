/** The trace for programs: every attempt, wait and mark under its step, nothing left out but payloads. */
import { traceIdOf } from '../../ground/index.ts';
import { type Trace, totalsOf } from '../../telemetry/trace.ts';
import { stepsOf } from './rows.ts';

export function traceData(run: string, trace: Trace): object {
  const { machine, version, generation, startedAt, until, end } = trace;
  return {
    traceId: traceIdOf(run),
    run,
    ...{ machine, version, generation },
    outcome: end?.outcome,
    state: end?.state,
    startedAt,
    endedAt: end && until,
    ...totalsOf(trace),
    steps: stepsOf(trace).map(({ name, items }) => ({
      step: name,
      items: items.map(({ step: _, ...rest }) => rest),
    })),
  };
}
