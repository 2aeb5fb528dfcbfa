/** A pod in a process of its own, for tests that kill it: its options are JSON on the command line. */
import { createFleet, type FleetOptions, governProcess } from '../../src/index.ts';
import { innocent, poison } from './machines/poison.ts';

const options = JSON.parse(process.argv[2] ?? '{}') as Partial<FleetOptions>;
const fleet = await createFleet({ ...options, machines: [poison, innocent], socket: false });
governProcess(fleet, { drainBudget: '2s' });
process.stdout.write(`ready ${fleet.status.pod?.pod}\n`);
