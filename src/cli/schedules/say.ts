/** Who changes a schedule, and how what became of it is said. */
import {
  type ScheduleAnswer,
  type ScheduleChange,
  ScheduleNotFoundError,
} from '../../store/index.ts';
import type { Options } from '../command.ts';
import { Exit, type ExitCode } from '../exit.ts';
import { requestIdOf, whoami } from '../fleet/acting.ts';
import type { Output } from '../output.ts';

export function byOf(
  options: Options,
): Pick<ScheduleChange, 'requestId' | 'who' | 'via' | 'isDryRun'> {
  const requestId = requestIdOf(options['requestId']);
  return { requestId, who: whoami(), via: 'cli', isDryRun: options['dryRun'] === true };
}

export function sayChange(
  output: Output,
  { name, order, requestId }: ScheduleChange,
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
  const { kind, isRepeated, isDryRun, schedule } = answer;
  const { status, nextAt } = schedule;
  const line = `${name} ${said[kind === 'already' ? 'already' : 'done']}`;
  if (output.isJson)
    output.json({ schedule: name, answer: kind, isRepeated, isDryRun, requestId, status, nextAt });
  else if (isDryRun) output.note(`only tried: nothing was changed; otherwise: ${line}`);
  else output.line(line);
  return Exit.ok;
}
