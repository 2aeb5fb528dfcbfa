/** From an argument vector to an exit code: the one place where the CLI ends. */
import { CommanderError } from 'commander';
import { Exit } from './exit.ts';
import { Output } from './output.ts';
import { buildProgram } from './program.ts';

export async function main(argv: readonly string[]): Promise<void> {
  // Whoever reads our output may have had enough of it: `fleetq runs | head -1`.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    process.exit(error.code === 'EPIPE' ? Exit.ok : Exit.failure);
  });
  try {
    await buildProgram((code) => {
      process.exitCode = code;
    }).parseAsync([...argv]);
  } catch (error) {
    process.exitCode =
      error instanceof CommanderError
        ? error.exitCode === 0
          ? Exit.ok
          : Exit.usage
        : new Output(argv.includes('--json')).failure(error);
  }
}
