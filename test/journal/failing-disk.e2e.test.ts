/** A disk that answers EIO: the runs stand still at their last record, and go on when it is well. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { shimEnv } from '../support/disk-shim.ts';
import { useTempDirs } from '../support/temp-dir.ts';
import { accountOf, DiskChild, killChildrenAfterEach, startedIn } from './disk-child.ts';

const newDir = useTempDirs();
killChildrenAfterEach();

function place() {
  const dataDir = newDir();
  const beside = dirname(dataDir);
  mkdirSync(beside, { recursive: true });
  return { dataDir, ledger: join(beside, 'ledger'), control: join(beside, 'disk-fails') };
}

test.each(['write', 'fsync'] as const)(
  'EIO on %s of the journal stops every run at its last record until the disk is well again',
  async (op) => {
    const { dataDir, ledger, control } = place();
    const env = shimEnv({ fail: { op, errno: 'EIO', path: 'journal.db', control } });
    const child = new DiskChild({ dataDir, ledger, awaited: [], outputBytes: 100 }, env);
    await child.hears('up');
    await waitFor(() => startedIn(ledger).length > 200);

    writeFileSync(control, '');
    const stalled = await child.hears('stalled');
    expect(child.said[stalled]!.message).toMatch(/disk I\/O error/);
    const refused = await child.hears('refused', stalled);
    expect(child.said[refused]!.code).toBe('FLEETQ_JOURNAL_STALLED');
    const startedThen = startedIn(ledger).length;
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(startedIn(ledger).length).toBe(startedThen);

    rmSync(control);
    await child.hears('recovered', stalled);
    await waitFor(() => startedIn(ledger).length > startedThen + 200);
    child.stop();
    await child.hears('done');
    expect(await child.ended).toEqual({ code: 0, signal: null });
    expect(accountOf(ledger, dataDir)).toMatchObject({ lost: [], doubled: 0, problems: [] });
  },
);

test('a process killed while its disk fails has lost nothing that it acknowledged', async () => {
  const { dataDir, ledger, control } = place();
  const env = shimEnv({ fail: { op: 'fsync', errno: 'EIO', path: 'journal.db', control } });
  const task = { dataDir, ledger, awaited: [], outputBytes: 100 };
  const child = new DiskChild(task, env);
  await child.hears('up');
  await waitFor(() => startedIn(ledger).length > 100);
  writeFileSync(control, '');
  await child.hears('refused', await child.hears('stalled'));
  await child.kill();

  const next = new DiskChild({ ...task, awaited: startedIn(ledger) });
  await next.hears('up');
  expect(next.said.filter((said) => said.event === 'alarm')).toEqual([]);
  next.stop();
  await next.hears('done');
  expect(await next.ended).toEqual({ code: 0, signal: null });
  const { lost, doubled, problems } = accountOf(ledger, dataDir);
  expect({ lost, problems }).toEqual({ lost: [], problems: [] });
  // Only what was inside persist when it died may have happened twice: one a slot.
  expect(doubled).toBeLessThanOrEqual(64);
});

async function waitFor(isTrue: () => boolean): Promise<void> {
  for (let count = 0; count < 400; count++) {
    if (isTrue()) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('waited for twenty seconds');
}
