/**
 * The program of a crash test's processes: one run of the user's machine. It is begun, or gone on
 * with where the data directory has it, and the process kills itself at the record it is told, with
 * SIGKILL: before the record is given to the journal (the phase's effect is done), or when it is
 * durable (the next phase is not begun). The engine knows nothing of this.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { loadModule } from '../config/index.ts';
import { describeError, FleetqError, type Json } from '../ground/index.ts';
import { SqliteJournal } from '../journal/index.ts';
import { type Machine, planOf, routeOf } from '../machine/index.ts';
import { createFleet, type Fleet } from '../main.ts';
import { listen } from '../telemetry/events.ts';
import { CaseLedger, type KillPoint, linesAt, readLedger } from './case-ledger.ts';
import { LeapClock } from './leap-clock.ts';
import { machineIn } from './machine-in.ts';
import { Witness } from './witness.ts';

/** What a process is told, as a file of JSON. */
export interface ChildOrders {
  readonly process: number;
  readonly module: string;
  readonly exportName: string | undefined;
  readonly input: Json;
  readonly dataDir: string;
  readonly ledger: string;
  readonly killAt: KillPoint | undefined;
}

const KEY = 'crash-test';

function watchRecords(ledger: CaseLedger, killAt: KillPoint | undefined): void {
  const append = SqliteJournal.prototype.append;
  let count = 0;
  SqliteJournal.prototype.append = async function (entry) {
    const seen = { nth: ++count, event: entry.event.type, state: entry.state };
    const dieIf = (when: KillPoint['when']) => {
      if (killAt?.nth !== seen.nth || killAt.when !== when) return;
      ledger.write({ at: 'dying', when, ...seen });
      process.kill(process.pid, 'SIGKILL');
    };
    dieIf('before');
    const appended = await append.call(this, entry);
    ledger.write({ at: 'recorded', ...seen });
    dieIf('after');
    return appended;
  };
}

/** Only one run is in this process: while it waits, nobody else minds that time is skipped. */
function leap(ledger: CaseLedger, clock: LeapClock, dueAt: number | undefined): void {
  if (dueAt === undefined || dueAt <= clock.now()) return;
  clock.leapTo(dueAt);
  ledger.write({ at: 'leapt', aheadMs: clock.aheadMs });
}

async function execute(orders: ChildOrders, ledger: CaseLedger): Promise<void> {
  const { module, exportName, input, dataDir } = orders;
  const clock = new LeapClock(linesAt(readLedger(orders.ledger), 'leapt').at(-1)?.aheadMs);
  const machine = machineIn(await loadModule(fileURLToPath(module)), exportName);
  const witness = new Witness(ledger);
  const watched = witness.watch(machine, planOf(machine)!);
  watchRecords(ledger, orders.killAt);
  // Not before the engine has begun to wait: it is to do what it would do.
  listen('run.waiting', ({ dueAt }) => clock.soon(() => leap(ledger, clock, dueAt)));
  const fleet = await createFleet({
    machines: [watched],
    dataDir,
    clock,
    around: witness.around,
    socket: false,
  });
  const found = fleet.runs({ countMax: 10 });
  // One that sleeps for long is left to its timer, and nothing is told of it.
  for (const { dueAt } of found) leap(ledger, clock, dueAt);
  const run = await fleet.startLocal(watched as Machine<Json>, input, { key: KEY });
  await run.result().catch(() => undefined);
  const places = machine.transitions.map(({ step, phase }) => `${step}.${phase}`);
  const ended = endOf(fleet, run.id);
  ledger.write({ at: 'ended', found: found.map(({ id }) => id), places, ...ended });
  await fleet.drain();
}

function endOf(fleet: Fleet, run: string) {
  const { status, outcome, output, reason, error, machine, version } = fleet.describe(run);
  const records = fleet
    .events(run)
    .map(({ seq, epoch, event, state }) => ({ seq, epoch, event: event.type, state }));
  const route = routeOf({ name: machine, version });
  return { run, machine: route, status, outcome, output, reason, error, records };
}

const orders = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as ChildOrders;
const ledger = new CaseLedger(orders.ledger, orders.process);
try {
  await execute(orders, ledger);
  // The machine's module may hold the loop: sockets, timers.
  process.exit(0);
} catch (error) {
  const hint = error instanceof FleetqError ? error.hint : undefined;
  ledger.write({ at: 'failed', error: describeError(error), hint });
  process.exit(1);
}
