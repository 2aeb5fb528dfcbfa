/** Hearts over a file that is locked, in a process of their own, which is to end in order all the same. */
import Database from 'better-sqlite3';
import { threadHeart } from '../../src/fleet/thread-heart.ts';
import { pause, systemClock, systemRandom } from '../../src/ground/index.ts';
import { openStore } from '../../src/store/index.ts';
import { birthOf } from '../store/factories.ts';

const HEART_COUNT = 6;
const [file = '', how = ''] = process.argv.slice(2);
const url = `sqlite:${file}`;
const store = await openStore(url, { clock: systemClock, random: systemRandom, migrates: true });

const hearts = await Promise.all(
  Array.from({ length: HEART_COUNT }, async (_, number) => {
    const birth = birthOf(`pod-${number}`);
    await store.register(birth);
    const heart = threadHeart(
      url,
      false,
    )({
      pod: birth.pod,
      nonce: birth.nonce,
      heartbeatMs: 50,
      silentMs: 60_000,
      clock: systemClock,
      mintNonce: () => systemRandom.hex(8),
      news: () => ({ lsn: 0, report: {} }),
      onHeard: () => undefined,
      onFailed: () => undefined,
    });
    await heart.ready();
    return heart;
  }),
);

const rival = new Database(file);
rival.exec('begin immediate');
for (const heart of hearts) heart.start();
// Each of them is inside of SQLite now and then, and between two tries otherwise.
await pause(systemClock, 20 + 30 * systemRandom.fraction());
if (how === 'exit') process.exit(0);
for (const heart of hearts) {
  await heart.stop();
  await pause(systemClock, 5);
}
rival.close();
process.stdout.write('stopped\n');
