/** Imports a file of the user's: JavaScript, or TypeScript whose types Node itself takes away. */
import { pathToFileURL } from 'node:url';
import { describeError } from '../ground/index.ts';
import { LoadError } from './errors.ts';

export const MODULE_EXTENSIONS: readonly string[] = ['.js', '.mjs', '.ts', '.mts'];

/** The module's exports. Whatever it throws while it loads becomes an error that names the file. */
export async function loadModule(file: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    return (await import(pathToFileURL(file).href)) as Record<string, unknown>;
  } catch (cause) {
    throw new LoadError(`${file} cannot be loaded: ${describeError(cause).message}`, {
      cause,
      hint: hintFor(cause),
    });
  }
}

function hintFor(cause: unknown): string {
  const { code, message } = describeError(cause);
  if (code === 'ERR_MODULE_NOT_FOUND' && /['"]fleetq['"]/.test(message)) {
    return 'install fleetq in the project that holds this file, so that it can import it';
  }
  if (code === 'ERR_MODULE_NOT_FOUND' && isImportedByTypeScript(message)) {
    return "name what is imported as it is on the disk: './prices.ts', not './prices' or './prices.js'";
  }
  if (code === 'ERR_MODULE_NOT_FOUND') return 'install what it imports, or correct the import';
  if (code === 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX') {
    return 'Node only takes types away: write no enum, namespace or parameter property, or compile it';
  }
  if (code === 'ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING') {
    return 'Node takes no types away in node_modules: compile the package that holds this file';
  }
  if (/^(Unexpected token 'export'|Cannot use import statement)/.test(message)) {
    return 'package.json says "commonjs": write "module" there, or end the file\'s name in .mts or .mjs';
  }
  return 'the file itself throws or does not parse: load it alone to see where';
}

/** "Cannot find module '/app/prices' imported from /app/machines/mail.ts". */
function isImportedByTypeScript(message: string): boolean {
  return /module '\S*[/\\][^']*' imported from .*\.m?ts$/.test(message);
}
