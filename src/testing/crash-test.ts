/**
 * Kills a machine before and after every record it writes, in real processes with real SIGKILLs, and
 * has a new process go on from what is on disk.
 *
 *   without a crash   ●────●────●────●  n records: how it ends, what it does
 *   case 2k - 1       ●────╳            killed before record k: its effect is done and not recorded
 *   case 2k           ●────●╳           killed after record k: the next phase has not begun
 *                          └──▶ a new process, same data directory: to the same end
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DEFAULTS } from '../config/index.ts';
import { type Json, settleJson, show } from '../ground/index.ts';
import type { Machine } from '../machine/index.ts';
import { type KillPoint, linesAt, readLedger } from './case-ledger.ts';
import { killPoints, nameOfCase, reportOf } from './cases.ts';
import type { ChildOrders } from './crash-child.ts';
import { type CrashPlan, type CrashTestOptions, readOptions } from './crash-options.ts';
import { type Death, runProcess, toldEnd } from './crash-process.ts';
import { CrashTestError, CrashTestOptionsError } from './errors.ts';
import { endedIn, judge, type Smooth, type Verdict, whyVoid } from './judge.ts';
import { nameOf } from './judge-calls.ts';
import { mapAtOnce } from './map-at-once.ts';
import { type CrashFault, type CrashReport, hintFor, tellFaults } from './report.ts';
import { type CaseRoom, measured, verified } from './world.ts';

/**
 * Resolves with a report where every case ended as the run without a crash does; rejects with a
 * `CrashTestError` that tells what broke where. `module` is a file URL or an absolute path.
 */
export async function crashTest<M = Machine>(
  module: string | URL,
  options: CrashTestOptions<NoInfer<M>>,
): Promise<CrashReport> {
  const plan = readOptions(module, options as CrashTestOptions<never>);
  const root = mkdtempSync(join(tmpdir(), 'fleetq-crash-'));
  try {
    return await new CrashTest(plan, root).run();
  } finally {
    if (!plan.isKept) rmSync(root, { recursive: true, force: true });
  }
}

/** After so many processes that hung, the rest would only cost time. */
const LATE_COUNT_MAX = 2;

class CrashTest {
  readonly #plan: CrashPlan;
  readonly #root: string;
  #lateCount = 0;

  constructor(plan: CrashPlan, root: string) {
    this.#plan = plan;
    this.#root = root;
  }

  async run(): Promise<CrashReport> {
    const smooth = await this.#withoutCrash();
    const points = killPoints(smooth.ended.records.length);
    const verdicts = await mapAtOnce(points, this.#plan.atOnce, (point) =>
      this.#case(point, smooth),
    );
    const report = reportOf(smooth, verdicts);
    if (report.faults.length === 0) return report;
    const keptAt = this.#plan.isKept ? this.#root : undefined;
    throw new CrashTestError(tellFaults(report, keptAt), report, { hint: hintFor(report.faults) });
  }

  /** What every case is compared with. A machine that does not run at all is no matter of crashes. */
  async #withoutCrash(): Promise<Smooth & { readonly effects: number | undefined }> {
    const room = this.#room('without a crash', 'smooth');
    const input = await this.#input(room);
    const { effects, value: death } = await measured(this.#plan, room, () =>
      this.#process(room, input, 1),
    );
    const lines = readLedger(room.ledger);
    const failed = linesAt(lines, 'failed')[0];
    if (failed) {
      const { error, hint } = failed;
      throw new CrashTestOptionsError(`the machine cannot be run: ${error.message}`, { hint });
    }
    const ended = endedIn(lines, 1);
    if (!ended?.outcome) {
      const how = ended ? `it is ${ended.status}` : toldEnd(death);
      throw new CrashTestOptionsError(`the run does not end without a crash: ${how}`, {
        hint: 'a run that takes longer needs a longer { timeout }',
      });
    }
    const why = await verified(this.#plan, room, ended);
    if (why !== undefined)
      throw new CrashTestOptionsError(`verify refuses the run without a crash: ${why}`);
    return { ended, lines, directory: room.directory, effects };
  }

  async #case(
    point: KillPoint,
    smooth: Smooth & { readonly effects: number | undefined },
  ): Promise<Verdict | undefined> {
    if (this.#lateCount >= LATE_COUNT_MAX) return undefined;
    const name = nameOfCase(point, smooth.ended);
    const room = this.#room(name, `${point.when}-${point.nth}`);
    const input = await this.#input(room);
    const { effects, value } = await measured(this.#plan, room, async () => {
      const first = await this.#process(room, input, 1, point);
      const isVoid = whyVoid({ point, first, lines: readLedger(room.ledger) }) !== undefined;
      return { first, second: isVoid ? undefined : await this.#process(room, input, 2) };
    });
    const lines = readLedger(room.ledger);
    const { directory } = room;
    const verdict = judge(
      { name, directory, point, lines, ...value },
      smooth,
      this.#plan.comparable,
    );
    const faults: CrashFault[] = [...verdict.faults];
    if (!verdict.isKilled) return verdict;
    if (effects !== smooth.effects) {
      const message = `${effects} in this case, and ${smooth.effects} without a crash`;
      faults.push({ case: name, kind: 'effects', message });
    }
    const again = verdict.calledAgain;
    if (again && this.#plan.once.includes(again.phase)) {
      const message = `${nameOf(again)} was called a second time`;
      faults.push({ case: name, kind: 'again', message });
    }
    const ended = endedIn(lines, 2);
    const why = ended && (await verified(this.#plan, room, ended));
    if (why !== undefined) faults.push({ case: name, kind: 'verify', message: why });
    return { ...verdict, faults };
  }

  async #process(room: CaseRoom, input: Json, process: number, killAt?: KillPoint): Promise<Death> {
    const { module, exportName, timeoutMs, env } = this.#plan;
    const { dataDir, ledger } = room;
    const orders: ChildOrders = { process, module, exportName, input, dataDir, ledger, killAt };
    const death = await runProcess(orders, { ordersFile: room.orders, timeoutMs, env });
    if (death.isLate) this.#lateCount++;
    return death;
  }

  #room(name: string, slug: string): CaseRoom {
    const home = join(this.#root, slug);
    const directory = join(home, 'world');
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    return {
      name,
      directory,
      dataDir: join(home, 'data'),
      ledger: join(home, 'ledger'),
      orders: join(home, 'orders.json'),
    };
  }

  async #input({ name, directory }: CaseRoom): Promise<Json> {
    const input = await this.#plan.inputFor({ name, directory });
    if (input === undefined) throw new CrashTestOptionsError(`the input is ${show(input)}`);
    return settleJson(input, 'the input', DEFAULTS.resultBytesMax);
  }
}
