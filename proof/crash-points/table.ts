/**
 * Where a process, a disk or the way to the database may give way, as one table. Every row has cases
 * (cases.ts) that kill, pause, cut off or tear there in real processes on a real Postgres; a test fails
 * where a row, or one of its disks, has none. Rows of what is not built yet are named with that.
 */

/** kill: SIGKILL. pause: SIGSTOP past the deadline. cut: the answer is lost. tear: a write is. */
export type How = 'kill' | 'pause' | 'cut' | 'tear';
/** kept: the same disk comes back. lost: it does not, and another pod takes over. */
export type Disk = 'kept' | 'lost';

export interface Row {
  readonly number: number;
  readonly what: string;
  readonly how: How;
  readonly disks: readonly Disk[];
}

const BOTH: readonly Disk[] = ['kept', 'lost'];

export const ROWS: readonly Row[] = [
  { number: 1, what: 'enqueue, before the commit', how: 'kill', disks: ['lost'] },
  { number: 2, what: 'enqueue committed, answer lost', how: 'kill', disks: ['lost'] },
  { number: 3, what: 'claim, before the commit', how: 'kill', disks: BOTH },
  { number: 4, what: 'claim committed, answer lost, the pod lives', how: 'cut', disks: ['kept'] },
  { number: 5, what: 'claim answered, before anything is on the disk', how: 'kill', disks: BOTH },
  { number: 6, what: 'the start is on the disk, before check', how: 'kill', disks: BOTH },
  { number: 7, what: 'records wait for their commit, before its fsync', how: 'kill', disks: BOTH },
  { number: 8, what: 'a write torn inside the fsync', how: 'tear', disks: BOTH },
  { number: 9, what: 'work entered, before its effect', how: 'kill', disks: BOTH },
  { number: 10, what: 'during the effect', how: 'kill', disks: BOTH },
  { number: 11, what: 'the effect is done, its record is not', how: 'kill', disks: BOTH },
  { number: 12, what: 'the record is on the disk and not archived', how: 'kill', disks: BOTH },
  { number: 13, what: 'during validate', how: 'kill', disks: BOTH },
  { number: 14, what: 'settle, before the commit', how: 'kill', disks: BOTH },
  { number: 15, what: 'settle committed, answer lost', how: 'kill', disks: BOTH },
  { number: 16, what: 'settle answered, before that is noted here', how: 'kill', disks: BOTH },
  { number: 17, what: 'the owner is swept while it stands still', how: 'pause', disks: ['kept'] },
  { number: 18, what: 'archive, before the commit', how: 'kill', disks: BOTH },
  { number: 19, what: 'archive committed, answer lost', how: 'kill', disks: BOTH },
  { number: 20, what: 'archive answered, before that is noted here', how: 'kill', disks: BOTH },
  { number: 21, what: 'what the store has is removed here, half way', how: 'kill', disks: BOTH },
  { number: 22, what: 'a checkpoint of the journal, half way', how: 'kill', disks: BOTH },
  { number: 23, what: 'the disk is full at a record', how: 'tear', disks: BOTH },
  { number: 24, what: 'heartbeat committed, answer lost', how: 'cut', disks: ['kept'] },
  { number: 25, what: 'sweep, before the commit', how: 'kill', disks: ['lost'] },
  { number: 26, what: 'sweep committed, answer lost', how: 'kill', disks: ['lost'] },
  { number: 27, what: 'several leaders sweep at once', how: 'kill', disks: ['lost'] },
  { number: 28, what: 'draining is set, before anything is released', how: 'kill', disks: BOTH },
  { number: 29, what: 'half of what is held is released', how: 'kill', disks: BOTH },
  { number: 30, what: 'adoption committed, answer lost', how: 'kill', disks: BOTH },
  { number: 31, what: 'recovery dies again and again', how: 'kill', disks: BOTH },
  { number: 32, what: 'the tables are migrated, half way', how: 'kill', disks: ['lost'] },
  { number: 33, what: 'new code comes to an old run', how: 'kill', disks: BOTH },
  { number: 34, what: 'a timer is armed, before it fires', how: 'kill', disks: BOTH },
  { number: 35, what: 'a timer has fired, answer lost', how: 'kill', disks: BOTH },
  { number: 37, what: 'the journal is corrupt', how: 'tear', disks: ['kept'] },
];

/** By number: what has to be built before the row can have cases. */
export const WAITING: Readonly<Record<number, string>> = {
  36: 'failover',
};

const ROW_COUNT = 37;

/** Rows that are in neither list, or in both. */
export function strayRows(): number[] {
  return Array.from({ length: ROW_COUNT }, (_, index) => index + 1).filter((number) => {
    const isThere = ROWS.some((row) => row.number === number);
    return isThere === number in WAITING;
  });
}

export function rowOf(number: number): Row {
  return ROWS.find((row) => row.number === number)!;
}
