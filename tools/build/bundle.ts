/**
 * The second half of the build: the compiler's many small modules become few, because Node needs a
 * millisecond for each file of a program, and every `fleetq …` starts with hundreds of them. What is
 * loaded only where it is needed stays a file of its own, and so does whatever is started by its path.
 *
 *   src/*.ts ── tsc ──▶ dist/**.js, dist/**.d.ts ── this ──▶ the ENTRIES, and dist/chunks/ that they share
 */
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import type { Plugin, UserConfig } from 'vite';

/** What package.json exports, and what is started by its path: as a process, as a thread, as a machine. */
const ENTRIES: readonly string[] = [
  'admin/plugin',
  'bin',
  'cli/worker/pod-process',
  'fleet/heart-thread',
  // The first to be loaded, and before whatever the others import.
  'ground/node-floor',
  'ground/refuse-old-node',
  'index',
  'sqlite',
  'suspect-main',
  'telemetry/metrics/index',
  'telemetry/otel/index',
  'testing/crash-child',
  'testing/index',
];

/** A module that asks where it is gets the answer it had before it was moved into a chunk. */
const PLACE = /__PLACE_OF__\("([^"]+)"\)/g;
const OWN_FILE = /(?<!from |import |import\()['"]\.\/([\w./-]+)\.js['"]/g;

function placesKept(dist: string): Plugin {
  return {
    name: 'places-kept',
    load(id) {
      if (!id.startsWith(`${dist}/`)) return null;
      const code = told(
        readFileSync(id, 'utf8').replace(/^\/\/# sourceMappingURL=.*$/m, ''),
        relative(dist, id),
      );
      return existsSync(`${id}.map`) ? { code, map: readFileSync(`${id}.map`, 'utf8') } : { code };
    },
    renderChunk(code, { fileName }) {
      if (!code.includes('__PLACE_OF__')) return null;
      const found = code.replace(PLACE, (_, file: string) => {
        const path = relative(dirname(fileName), file);
        return `new URL(${JSON.stringify(`./${path}`)}, import.meta.url).href`;
      });
      return { code: found };
    },
  };
}

function told(code: string, file: string): string {
  if (!code.includes('import.meta.url')) return code;
  for (const [, name] of code.matchAll(OWN_FILE)) {
    const path = relative('.', `${dirname(file)}/${name}`);
    if (ENTRIES.includes(path) || path.startsWith('machines/')) continue;
    throw new Error(
      `${file} starts ${path}.js by its path: name it in ENTRIES of tools/build/bundle.ts`,
    );
  }
  return code.replaceAll('import.meta.url', `__PLACE_OF__(${JSON.stringify(file)})`);
}

/** What the compiler left: nobody loads it any more, and two copies of a module share no classes. */
function restRemoved(dist: string): Plugin {
  return {
    name: 'rest-removed',
    buildStart() {
      rmSync(`${dist}/chunks`, { recursive: true, force: true });
    },
    writeBundle(_, written) {
      for (const file of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
        const isModule = /\.js(\.map)?$/.test(file) && !/^(machines|admin-ui)\//.test(file);
        if (isModule && !(file in written)) rmSync(`${dist}/${file}`);
      }
    },
  };
}

/**
 * What `import 'fleetq'` loads is three chunks and not forty: what every command and every heart needs too,
 * what a heart needs besides, and the rest. Each is closed: nothing in it imports from a later one.
 */
function groupsOf(dist: string) {
  const library = loadedBy(`${dist}/index.js`);
  const command = loadedBy(`${dist}/cli/main.js`);
  const heart = loadedBy(`${dist}/fleet/heart-thread.js`);
  return [
    {
      name: 'ground',
      test: (id: string) => library.has(id) && heart.has(id) && command.has(id),
    },
    { name: 'heart', test: (id: string) => library.has(id) && heart.has(id) },
    { name: 'core', test: (id: string) => library.has(id) },
  ];
}

/** As the compiler writes an import or export of another module that is loaded at once. */
const LOADED = /^(?:import|export) .*['"](\.[^'"]+\.js)['"];$/gm;

/** But for what comes first, and therefore is in no chunk with anything else. */
function loadedBy(entry: string): ReadonlySet<string> {
  const found = new Set<string>();
  const waiting = [entry];
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (found.has(file) || /\/(node-floor|refuse-old-node)\.js$/.test(file)) continue;
    found.add(file);
    for (const [, path] of readFileSync(file, 'utf8').matchAll(LOADED)) {
      waiting.push(resolve(dirname(file), path!));
    }
  }
  found.delete(entry);
  return found;
}

/** Of what was compiled into `dist`; `more` are modules that somebody wants to load by their paths. */
export function bundleOf(dist: string, more: readonly string[] = []): UserConfig {
  const entries = [...ENTRIES, ...more];
  return {
    plugins: [placesKept(dist), restRemoved(dist)],
    build: {
      ssr: true,
      outDir: dist,
      emptyOutDir: false,
      copyPublicDir: false,
      minify: false,
      sourcemap: true,
      target: 'es2023',
      rolldownOptions: {
        // A place is a few letters longer where it is told: the lines of the maps stay right.
        checks: { sourcemapBroken: false, pluginTimings: false },
        input: Object.fromEntries(entries.map((entry) => [entry, `${dist}/${entry}.js`])),
        output: {
          entryFileNames: '[name].js',
          chunkFileNames: 'chunks/[name]-[hash].js',
          codeSplitting: { groups: groupsOf(dist) },
        },
      },
    },
    ssr: { noExternal: [/^\./] },
  };
}
