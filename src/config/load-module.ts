/** Imports a file of the user's: JavaScript as it is, TypeScript through tsx. */
import { extname } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describeError } from '../ground/index.ts';
import { LoadError } from './errors.ts';

export const MODULE_EXTENSIONS: readonly string[] = ['.js', '.mjs', '.ts', '.mts'];

let typescript: Promise<void> | undefined;

/** The module's exports. Whatever it throws while it loads becomes an error that names the file. */
export async function loadModule(file: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    if (extname(file).endsWith('ts')) {
      typescript ??= registerTypescript();
      await typescript;
    }
    return (await import(pathToFileURL(file).href)) as Record<string, unknown>;
  } catch (cause) {
    throw new LoadError(`${file} cannot be loaded: ${describeError(cause).message}`, {
      cause,
      hint: hintFor(cause),
    });
  }
}

/** Once and for good: handlers may import further files while they run. */
async function registerTypescript(): Promise<void> {
  const [esm, cjs] = await Promise.all([import('tsx/esm/api'), import('tsx/cjs/api')]);
  esm.register();
  // A project without `"type": "module"` has its TypeScript read as CommonJS.
  cjs.register();
}

function hintFor(cause: unknown): string {
  const { code, message } = describeError(cause);
  if (code === 'ERR_MODULE_NOT_FOUND' && /['"]fleetq['"]/.test(message)) {
    return 'install fleetq in the project that holds this file, so that it can import it';
  }
  if (code === 'ERR_MODULE_NOT_FOUND') return 'install what it imports, or correct the import';
  return 'the file itself throws or does not parse: load it alone to see where';
}
