/** From an argument vector to an exit code: the one place where the CLI ends. */
import { CommanderError } from 'commander';
import { Exit, type ExitCode } from './exit.ts';
import { Output } from './output.ts';
import { buildProgram } from './program.ts';

/**
 * Ends the process when the command is done, once what it said is out: a machine's module may have
 * left a timer or a connection behind that would keep it up for ever.
 */
export async function main(argv: readonly string[]): Promise<never> {
  // Whoever reads our output may have had enough of it: `fleetq runs | head -1`.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    process.exit(error.code === 'EPIPE' ? Exit.ok : Exit.failure);
  });
  let exitCode: ExitCode = Exit.ok;
  try {
    await buildProgram((code) => {
      exitCode = code;
    }).parseAsync([...argv]);
  } catch (error) {
    if (!(error instanceof CommanderError)) exitCode = new Output(isJson(argv)).failure(error);
    else if (error.exitCode !== 0) exitCode = Exit.usage;
  }
  await Promise.all([flushed(process.stdout), flushed(process.stderr)]);
  return process.exit(exitCode);
}

function isJson(argv: readonly string[]): boolean {
  return argv.includes('--json');
}

/** What was written before is out when this is; whether it failed is told by 'error'. */
function flushed(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => void stream.write('', () => resolve()));
}
