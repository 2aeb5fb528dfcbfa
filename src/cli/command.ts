/** What a command is: every one of them is a function of this kind, in a file of its own. */
import type { Config } from '../config/index.ts';
import type { ExitCode } from './exit.ts';
import type { Io } from './io.ts';
import type { Output } from './output.ts';

/** What every command is given besides its own arguments. */
export interface Context {
  readonly config: Config;
  readonly output: Output;
  readonly io: Io;
}
export type Options = Readonly<Record<string, string | boolean | undefined>>;
export type Execute = (context: Context, options: Options, ...words: string[]) => Promise<ExitCode>;
