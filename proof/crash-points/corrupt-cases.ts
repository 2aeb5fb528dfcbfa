/** The cases of the crash table for a journal that is not what was written: row 37. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { judge } from './judge.ts';
import { type Case, phase } from './strikes.ts';
import type { Disk } from './table.ts';

function change(file: string, act: (bytes: Buffer) => void): void {
  const bytes = readFileSync(file);
  act(bytes);
  writeFileSync(file, bytes);
}

interface Corruption {
  readonly name: string;
  /** What must be said aloud. */
  readonly alarm: string;
  /** How much of what was here is still known: as much as with a disk that is kept, or lost. */
  readonly leaves: Disk;
  readonly corrupt: (dataDir: string) => void;
}

function corrupted({ name, alarm, leaves, corrupt }: Corruption): Case {
  return {
    row: 37,
    disk: 'kept',
    name,
    isAlone: true,
    run: async (ground, machine) => {
      await ground.enqueue(machine);
      const dataDir = ground.newDisk();
      // Long enough for the archive to have what came before it.
      const orders = { machine, dataDir, workMs: 600 };
      await ground.start({ ...orders, hook: phase('b.work', 'done') }).strikes();
      corrupt(dataDir);
      const next = ground.start({ machine, dataDir, isFinisher: true });
      await next.finishes();
      expect(next.said).toContain(`alarm ${alarm}`);
      await judge(ground, machine, leaves);
    },
  };
}

export const CORRUPT_CASES: readonly Case[] = [
  corrupted({
    name: 'nothing of it can be read: all is taken from the store',
    alarm: 'fileDamaged',
    leaves: 'lost',
    corrupt: (dataDir) => {
      for (const file of ['journal.db', 'journal.db-wal']) {
        change(join(dataDir, file), (bytes) => bytes.fill(0x5a));
      }
    },
  }),
  corrupted({
    name: 'its last records cannot be reached: the store has more',
    alarm: 'recordsLost',
    leaves: 'lost',
    corrupt: (dataDir) =>
      change(join(dataDir, 'journal.db-wal'), (bytes) => {
        const at = Math.floor(bytes.length * 0.6);
        bytes[at]! ^= 1;
      }),
  }),
  corrupted({
    name: 'its header is broken, and every record is proved',
    alarm: 'fileDamaged',
    leaves: 'kept',
    corrupt: (dataDir) =>
      change(join(dataDir, 'journal.db'), (bytes) => {
        bytes[18]! ^= 4;
      }),
  }),
];
