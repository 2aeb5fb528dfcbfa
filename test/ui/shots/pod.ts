/**
 * A pod for pictures: machines such as people have, which take their time, fail,
 * and hold on to runs.
 */
import { createFleet } from '../../../src/index.ts';
import { machines, throttles } from './machines.ts';

const options = JSON.parse(process.argv[2]!) as object;
process.on('disconnect', () => process.exit(0));

const fleet = await createFleet({ ...options, machines: machines(), throttles, socket: false });
process.send!('ready');
process.on('message', async (message) => {
  if (message !== 'drain') return;
  await fleet.drain({ budget: '2s' });
  process.exit(0);
});
