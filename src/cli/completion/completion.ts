/** fleetq completion <shell>: a script for the shell, made from the commands there are. */
import { nearest, show } from '../../ground/index.ts';
import type { Execute } from '../command.ts';
import { UsageError } from '../errors.ts';
import { Exit } from '../exit.ts';
import { buildProgram } from '../program.ts';
import { bashScript } from './bash.ts';
import { fishScript } from './fish.ts';
import { type Node, SHELLS, type Shell, treeOf } from './tree.ts';
import { zshScript } from './zsh.ts';

const SCRIPTS: Record<Shell, (tree: readonly Node[]) => string> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
};

export const completion: Execute = async ({ output }, _options, word) => {
  const shell = SHELLS.find((each) => each === word);
  if (!shell) {
    const near = nearest(String(word), SHELLS);
    throw new UsageError(`the shell must be one of ${SHELLS.join(', ')}, got ${show(word)}`, {
      hint: near && `did you mean ${near}?`,
    });
  }
  const script = SCRIPTS[shell](treeOf(buildProgram(() => undefined)));
  if (output.isJson) output.json({ shell, script });
  else output.line(script.trimEnd());
  return Exit.ok;
};
