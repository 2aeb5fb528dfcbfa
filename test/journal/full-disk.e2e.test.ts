/** A disk that is really full: ENOSPC from the kernel, on a small file system of its own. */
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { useTempDirs } from '../support/temp-dir.ts';
import { accountOf, DiskChild, killChildrenAfterEach, startedIn } from './disk-child.ts';
import { makeSmallDisk, type SmallDisk, whyNoSmallDisk } from './small-disk.ts';

const newDir = useTempDirs();
killChildrenAfterEach();
const reason = whyNoSmallDisk();
if (reason !== undefined) process.stderr.write(`skipped: ${reason}\n`);

const disks: SmallDisk[] = [];
afterEach(() => {
  for (const disk of disks.splice(0)) disk.remove();
});

/** A disk that 64 runs with an output of 40 KB each fill, ballast and all; 8 MiB of it can be freed. */
async function fullDisk() {
  const disk = await makeSmallDisk(16);
  disks.push(disk);
  const filler = join(disk.directory, 'filler');
  disk.run('dd', 'if=/dev/zero', `of=${filler}`, 'bs=1M', 'count=8', 'status=none');
  const ledger = join(newDir(), 'ledger');
  mkdirSync(dirname(ledger), { recursive: true });
  const task = { dataDir: join(disk.directory, 'data'), ledger, awaited: [], outputBytes: 40_000 };
  return {
    disk,
    task,
    start: (awaited: readonly string[] = []) =>
      new DiskChild({ ...task, awaited }, {}, disk.inside),
    /** More than was asked for: enough for whatever is in hand, and for more. */
    free() {
      disk.run('mount', '-o', 'remount,size=512m', disk.directory);
      disk.run('rm', filler);
    },
  };
}

test.skipIf(reason)(
  'a full disk stops the runs at their last record, and they go on when there is space',
  async () => {
    const { disk, task, start, free } = await fullDisk();
    const child = start();
    await child.hears('up');
    const stalled = await child.hears('stalled');
    expect(child.said[stalled]!.message).toMatch(/full/);
    const refused = await child.hears('refused', stalled);
    expect(child.said[refused]!.code).toBe('FLEETQ_JOURNAL_STALLED');
    await quiet();
    const startedThen = startedIn(task.ledger).length;
    await quiet();
    expect(startedIn(task.ledger).length).toBe(startedThen);

    free();
    const recovered = await child.hears('recovered', stalled);
    expect(recovered).toBeGreaterThan(refused);
    child.stop();
    await child.hears('done');
    expect(await child.ended).toEqual({ code: 0, signal: null });
    const account = accountOf(task.ledger, disk.copyOut(task.dataDir));
    expect(account).toMatchObject({ lost: [], doubled: 0, problems: [] });
    expect(account.started).toBeGreaterThanOrEqual(startedThen);
    expect(startedThen).toBeGreaterThan(50);
  },
);

test.skipIf(reason)(
  'a process killed on a full disk can be started again, on the full disk and after it',
  async () => {
    const { disk, task, start, free } = await fullDisk();
    const first = start();
    await first.hears('refused', await first.hears('stalled'));
    await quiet();
    await first.kill();

    // On the full disk it comes up and stands still, or says clearly why it cannot.
    const second = start();
    await second.hears('up').catch(() => second.hears('dead'));
    const dead = second.said.find((said) => said.event === 'dead');
    if (dead) {
      expect(dead.code).toMatch(/^FLEETQ_JOURNAL_(STALLED|PLACE)$/);
    } else {
      await second.hears('refused', await second.hears('stalled'));
      await second.kill();
    }

    free();
    const third = start(startedIn(task.ledger));
    await third.hears('up');
    third.stop();
    await third.hears('done');
    expect(await third.ended).toEqual({ code: 0, signal: null });
    const { lost, doubled, problems } = accountOf(task.ledger, disk.copyOut(task.dataDir));
    expect({ lost, problems }).toEqual({ lost: [], problems: [] });
    // What was inside persist when it died may have happened twice, by each of the two kills.
    expect(doubled).toBeLessThanOrEqual(2 * 64);
  },
);

function quiet(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 400));
}
