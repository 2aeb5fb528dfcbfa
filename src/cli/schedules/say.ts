/** Who changes a schedule, and how what became of it is said. */
import {
  type ScheduleAnswer,
  type ScheduleChange,
  ScheduleNotFoundError,
} from '../../store/index.ts';
import type { Options } from '../command.ts';
import { Exit, type ExitCode } from '../exit.ts';
import { reasonFor, requestIdOf, whoami } from '../fleet/acting.ts';
import type { Output } from '../output.ts';

export function byOf(
  options: Options,
): Pick<ScheduleChange, 'requestId' | 'who' | 'via' | 'reason' | 'isDryRun'> {
  const requestId = requestIdOf(options['requestId']);
  const reason = reasonFor(options['reason']);
  return { requestId, who: whoami(), via: 'cli', reason, isDryRun: options['dryRun'] === true };
}

interface Ordered {
  readonly what: string;
}

export function sayChange(
  output: Output,
  { name, order, requestId }: Pick<ScheduleChange, 'name' | 'requestId'> & { order: Ordered },
  answer: ScheduleAnswer,
  said: Readonly<Record<'done' | 'already', string>>,
): ExitCode {
  if (answer.kind === 'refused') {
    if (answer.why === 'unknown') throw new ScheduleNotFoundError(name);
    if (output.isJson)
      output.json({ schedule: name, what: order.what, answer: 'refused', ...answer });
    output.note(`${name} cannot ${order.what}: ${answer.detail}`);
    return Exit.failure;
  }
  const { kind, isRepeated, isDryRun, schedule, run } = answer;
  const { status, nextAt } = schedule;
  const line = `${name} ${said[kind === 'already' ? 'already' : 'done']}`;
  if (output.isJson)
    output.json({
      ...{ schedule: name, answer: kind, isRepeated, isDryRun, requestId, status, nextAt, run },
    });
  else if (isDryRun) output.note(`only tried: nothing was changed; otherwise: ${line}`);
  else output.line(run === undefined ? line : `${line}: ${run}`);
  return Exit.ok;
}
