/** The files of a project that its machines import, by what their text says: for whoever watches them. */
import { readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve, sep } from 'node:path';

/** `from './x.js'`, `import './x.js'`, `import('./x.js')`, `require('./x.js')`: relative ones only. */
const IMPORT = /\b(?:from|import|require)\s*\(?\s*['"](\.{1,2}\/[^'"\n]+)['"]/g;
const TEXT_BYTES_MAX = 2 * 1024 * 1024;
const EXTENSIONS = [
  '',
  '.ts',
  '.mts',
  '.js',
  '.mjs',
  '.cjs',
  '.cts',
  '.json',
  '/index.ts',
  '/index.js',
];

interface Read {
  readonly mark: string;
  readonly imports: readonly string[];
}

export class Imports {
  readonly #known = new Map<string, Read>();

  /** These files and all that they import, at most `countMax`; each with what changes when it does. */
  from(files: readonly string[], countMax: number): Map<string, string> {
    const marks = new Map<string, string>();
    const waiting = [...files];
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
      if (marks.has(file) || marks.size >= countMax) continue;
      const mark = markOf(file);
      if (mark === undefined) continue;
      marks.set(file, mark);
      waiting.push(...this.#read(file, mark));
    }
    for (const file of this.#known.keys()) if (!marks.has(file)) this.#known.delete(file);
    return marks;
  }

  #read(file: string, mark: string): readonly string[] {
    const known = this.#known.get(file);
    if (known?.mark === mark) return known.imports;
    const imports = importsOf(file);
    this.#known.set(file, { mark, imports });
    return imports;
  }
}

/** Undefined where there is no such file. */
export function markOf(file: string): string | undefined {
  const found = statSync(file, { throwIfNoEntry: false });
  return found?.isFile() ? `${found.ino} ${found.mtimeMs} ${found.size}` : undefined;
}

function importsOf(file: string): string[] {
  const text = textOf(file);
  return [...text.matchAll(IMPORT)].flatMap(([, path = '']) => {
    const found = candidates(resolve(dirname(file), path)).find((at) => markOf(at) !== undefined);
    return found === undefined || found.includes(`${sep}node_modules${sep}`) ? [] : [found];
  });
}

/** TypeScript is imported by the name that it will have when it is JavaScript. */
function candidates(path: string): string[] {
  const source = path.replace(/\.([cm]?)js$/, '.$1ts');
  return [...new Set([path, source, ...EXTENSIONS.map((end) => join(path) + end)])];
}

function textOf(file: string): string {
  try {
    if (statSync(file).size > TEXT_BYTES_MAX) return '';
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
