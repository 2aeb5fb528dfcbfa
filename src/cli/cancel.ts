/** fleetq cancel <run> [--reason why]: the first cancel wins, an ended run keeps its outcome. */

import type { Execute } from './command.ts';
import { Exit } from './exit.ts';
import { cancelRun } from './reach.ts';
import { idOf } from './runs.ts';

export const cancel: Execute = async ({ config, output }, options, id) => {
  idOf(id, 'the argument');
  const answer = await cancelRun(config, id!, options['reason'] as string | undefined);
  if (output.isJson) output.json({ run: id, ...answer });
  else if (answer.isCancelled) output.line(`${id} cancelled`);
  else output.note(`${id} had ended before: ${answer.outcome}`);
  return answer.isCancelled ? Exit.ok : Exit.failure;
};
