/**
 * Brings a file to the newest format, and refuses one that is not ours or newer than we know. What
 * the tables look like is compared with what the migrations make of an empty file: a damaged schema
 * would otherwise let SQLite read the right bytes in the wrong way.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { openDatabase } from '../ground/index.ts';
import { type Connection, corrupt } from './connection.ts';
import { JournalFormatError } from './errors.ts';
import { readHead, writeHead } from './head.ts';

/** Marks the file as ours: 'FLTQ'. */
export const APPLICATION_ID = 0x464c5451;

/** Answers the format; throws as for a corrupt file where the file cannot be what we wrote. */
export function migrate(connection: Connection): number {
  const applicationId = connection.pragma('application_id', { simple: true }) as number;
  const format = connection.pragma('user_version', { simple: true }) as number;
  const schema = schemaOf(connection);
  const formats = knownFormats();
  const newest = formats.length - 1;
  if (applicationId !== APPLICATION_ID && !(applicationId === 0 && format === 0 && schema === '')) {
    if (formats.includes(schema)) throw corrupt('the header has lost its application id');
    throw new JournalFormatError('the file is a SQLite database, but not a FleetQ journal', {
      hint: 'choose another data directory',
    });
  }
  if (format > newest) refuseNewer(connection, format, newest);
  if (schema !== formats[format]) throw corrupt(`the tables are not those of format ${format}`);
  readMigrations()
    .slice(format)
    .forEach((sql, index) => {
      const next = format + index + 1;
      connection.transaction(() => {
        const head = next > 1 ? readHead(connection, next - 1) : undefined;
        connection.exec(sql);
        connection.pragma(`application_id = ${APPLICATION_ID}`);
        connection.pragma(`user_version = ${next}`);
        // The format is part of the seal; a seal that did not fit before is left to be found so.
        if (typeof head === 'object') writeHead(connection, { ...head, format: next });
      })();
    });
  return newest;
}

/** The format number stands in a header that nothing protects; the head row has it in its seal. */
function refuseNewer(connection: Connection, format: number, newest: number): never {
  if (schemaOf(connection) === knownFormats()[newest]) {
    const head = readHead(connection, newest);
    if (head !== undefined && head !== 'damaged') {
      throw corrupt(`the header says format ${format}, the journal is of format ${newest}`);
    }
  }
  throw tooNew(format, newest);
}

function tooNew(format: number, newest: number): JournalFormatError {
  return new JournalFormatError(
    `the journal has format ${format}; this FleetQ knows formats up to ${newest}`,
    { hint: 'start the newer FleetQ that wrote it; an older one would misread it' },
  );
}

/**
 * Of a broken file nothing can be relied on but what agrees: a number that is too high, and tables that
 * this version never made. Either alone is damage, and no reason to leave the runs where they are.
 */
export function refuseNewerWreck(connection: Connection): void {
  const format = connection.pragma('user_version', { simple: true }) as number;
  const isOurs = connection.pragma('application_id', { simple: true }) === APPLICATION_ID;
  const formats = knownFormats();
  if (!isOurs || format < formats.length || formats.includes(schemaOf(connection))) return;
  throw tooNew(format, formats.length - 1);
}

/** Every table, index and trigger as SQL; what SQLite made for itself has none. */
function schemaOf(connection: Connection): string {
  const rows = connection
    .prepare('select type, name, tbl_name, sql from sqlite_schema order by type, name')
    .raw()
    .all() as string[][];
  return rows.map((row) => row.join('\n')).join('\n');
}

let formatsRead: readonly string[] | undefined;
/** The schema of each format, from 0 for an empty file. */
function knownFormats(): readonly string[] {
  if (formatsRead) return formatsRead;
  const memory = openDatabase(':memory:');
  const formats = [''];
  for (const sql of readMigrations()) {
    memory.exec(sql);
    formats.push(schemaOf(memory));
  }
  memory.close();
  formatsRead = formats;
  return formats;
}

let migrationsRead: readonly string[] | undefined;
function readMigrations(): readonly string[] {
  if (migrationsRead) return migrationsRead;
  const directory = fileURLToPath(new URL('../../migrations/journal/', import.meta.url));
  migrationsRead = readdirSync(directory)
    .filter((name) => /^\d{4}_[a-z0-9_]+\.sql$/.test(name))
    .sort()
    .map((name) => readFileSync(`${directory}${name}`, 'utf8'));
  return migrationsRead;
}
