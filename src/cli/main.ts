/** From an argument vector to an exit code: the one place where the CLI ends. */
import { CommanderError } from 'commander';
import { Exit, type ExitCode } from './exit.ts';
import { type Io, processIo } from './io.ts';
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
  const exitCode = await runCommand(argv, processIo());
  await Promise.all([flushed(process.stdout), flushed(process.stderr)]);
  return process.exit(exitCode);
}

/** One call, from the `argv` of a process to its exit code. Everything it opened is closed by then. */
export async function runCommand(argv: readonly string[], io: Io): Promise<ExitCode> {
  let exitCode: ExitCode = Exit.ok;
  try {
    await buildProgram((code) => {
      exitCode = code;
    }, io).parseAsync([...argv]);
  } catch (error) {
    if (!(error instanceof CommanderError)) return new Output(isJson(argv), io).failure(error);
    if (error.exitCode !== 0) return Exit.usage;
  }
  return exitCode;
}

function isJson(argv: readonly string[]): boolean {
  return argv.includes('--json');
}

/** What was written before is out when this is; whether it failed is told by 'error'. */
function flushed(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => void stream.write('', () => resolve()));
}
