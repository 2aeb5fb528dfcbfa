/**
 * Makes those parts of dist/ that are not of the sources as they are now. What a part was made of is
 * noted as a hash of every name and every byte: a checkout, a copy or a wrong clock changes no hash, and a
 * file that was deleted does.
 *
 *   hash = note ──▶ nothing to do
 *   hash ≠ note ──▶ lock ──▶ note removed ──▶ part made ──▶ hash noted
 *                     └──▶ hash = note by now: another process has made it
 */
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { DIST, PARTS, type Part, ROOT } from './parts.ts';

const NOTES = join(DIST, '.build');
/** Longer than a build takes on a slow host. */
const LOCK_MS_MAX = 15 * 60_000;

/** Resolves with an exit code. */
export async function buildWhatIsOld(): Promise<number> {
  if (oldParts().length === 0) return 0;
  const unlock = lock();
  try {
    const old = oldParts();
    if (old.length > 0) {
      process.stderr.write(`building ${old.map(({ part }) => part.name).join(', ')}\n`);
      await makeAll(old);
    }
    return 0;
  } catch (error) {
    process.stderr.write(`the build failed: ${(error as Error).message}\n`);
    return 1;
  } finally {
    unlock();
  }
}

interface Old {
  readonly part: Part;
  readonly hash: string;
}

function oldParts(): Old[] {
  const hashes = new Map<string, string>();
  for (const part of PARTS) {
    const hash = createHash('sha256');
    for (const name of part.after) hash.update(hashes.get(name)!);
    for (const source of part.sources) addTo(hash, source);
    hashes.set(part.name, hash.digest('hex'));
  }
  return PARTS.map((part) => ({ part, hash: hashes.get(part.name)! })).filter(
    ({ part, hash }) => noted(part) !== hash || !existsSync(join(DIST, part.proof)),
  );
}

function addTo(hash: ReturnType<typeof createHash>, path: string): void {
  if (statSync(join(ROOT, path)).isDirectory()) {
    for (const name of readdirSync(join(ROOT, path)).sort()) addTo(hash, `${path}/${name}`);
  } else {
    hash.update(`${path}\n`).update(readFileSync(join(ROOT, path)));
  }
}

async function makeAll(old: readonly Old[]): Promise<void> {
  const made = new Map<string, Promise<void>>();
  for (const { part, hash } of old) {
    const before = part.after.map((name) => made.get(name));
    made.set(
      part.name,
      Promise.all(before).then(async () => {
        // A part that is half made is not taken for made.
        rmSync(noteOf(part), { force: true });
        await part.make();
        writeFileSync(noteOf(part), hash);
      }),
    );
  }
  // Each to its end: the lock is not released while a compiler still writes.
  const ends = await Promise.allSettled(made.values());
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}

const noteOf = (part: Part) => join(NOTES, part.name);

function noted(part: Part): string | undefined {
  return existsSync(noteOf(part)) ? readFileSync(noteOf(part), 'utf8') : undefined;
}

/** By SQLite, whose lock the kernel releases when its process dies. Waits while another process builds. */
function lock(): () => void {
  mkdirSync(NOTES, { recursive: true });
  const Database = createRequire(import.meta.url)('better-sqlite3');
  const held = new Database(join(NOTES, 'lock'), { timeout: LOCK_MS_MAX });
  held.pragma('journal_mode = MEMORY');
  held.exec('begin exclusive');
  return () => held.close();
}
