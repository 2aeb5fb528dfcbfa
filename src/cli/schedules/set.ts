/** fleetq schedules set <name> <machine> --cron …: makes a schedule, or changes what one says. */
import { schedulePlanOf } from '../../fleet/index.ts';
import { type Duration, isoTime, systemClock } from '../../ground/index.ts';
import { parseInput, Registry } from '../../machine/index.ts';
import type { Missed, Overlap, SchedulePlan } from '../../store/index.ts';
import type { Context, Execute, Options } from '../command.ts';
import { UsageError } from '../errors.ts';
import { withStore } from '../fleet/open.ts';
import { readInput, readKey, readPriority } from '../input.ts';
import type { Io } from '../io.ts';
import { loadMachines } from '../machines.ts';
import { byOf, sayChange } from './say.ts';

export const set: Execute = async (context, options, name, machine) => {
  const plan = await planOf(options, machine!, context.io);
  await checkInput(context, plan);
  const change = { name: name!, order: { what: 'set', plan } as const, ...byOf(options) };
  return withStore(context.config, async (store) =>
    sayChange(context.output, change, await store.changeSchedule(change), {
      done: 'is set',
      already: 'is set',
    }),
  );
};

async function planOf(options: Options, machine: string, io: Io): Promise<SchedulePlan> {
  const { cron, zone, tickAs, missed, overlap, jitter } = options;
  if (cron === undefined) {
    throw new UsageError('--cron is missing', {
      hint: "say when, like --cron '30 2 * * *' or --cron @daily",
    });
  }
  return schedulePlanOf({
    machine,
    cron: String(cron),
    zone: zone === undefined ? undefined : String(zone),
    input: await readInput(String(options['input'] ?? 'null'), io),
    tickAs: tickAs === undefined ? undefined : String(tickAs),
    missed: missed as Missed | undefined,
    overlap: overlap as Overlap | undefined,
    jitter: jitter as Duration | undefined,
    priority: readPriority(options['priority']),
    queue: readKey(options['queue'], '--queue'),
  });
}

/** Where the machine is here; whoever has it says so at the first tick otherwise. */
async function checkInput({ config, output }: Context, plan: SchedulePlan): Promise<void> {
  const { machines } = await loadMachines(config, config.cwd);
  const [known] = new Registry(machines).versions(plan.machine);
  if (!known) {
    output.note(`${plan.machine} is not among the machines here: its input was not looked at`);
    return;
  }
  const input = JSON.parse(plan.payload) as object;
  const tick = isoTime(systemClock.now());
  const given = plan.tickAs === undefined ? input : { ...input, [plan.tickAs]: tick };
  await parseInput(systemClock, known, given);
}
