/**
 * I33: a run is executed by the version it has, or by a newer one through a record that says so; and a
 * pod is given nothing that it could not go on with. Which versions may follow each other is known from
 * the machines, and not asked of those who decide it.
 */
import type { LiveRun } from '../../src/engine/live-run.ts';
import type { EventRow } from '../../src/journal/index.ts';
import type { PastRecord, RunEvent } from '../../src/machine/index.ts';
import type { TaskRecord } from '../../src/store/memory/tables.ts';
import type { ClaimedTask } from '../../src/store/tasks.ts';
import { type Code, MOVES, mayHave, VERSIONED } from './versions.ts';
import type { World } from './world.ts';

const NAMES_VERSION = ['STARTED', 'ADVANCED', 'UPGRADED'];

export class VersionJudge {
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  /** A phase is about to begin, and these are the records that are durable. */
  begins(who: string, { plan, id }: LiveRun, rows: readonly EventRow[]): void {
    if (!VERSIONED.includes(plan.name)) return;
    const named = rows.findLast(({ event }) => NAMES_VERSION.includes(event));
    const { version } = JSON.parse(named?.data ?? '{}') as { version?: number };
    this.#world.count('judged versions');
    if (version === plan.version) return;
    const how = `executes ${plan.name} ${id} by version ${plan.version}`;
    this.#world.violate('I33', `${who} ${how}, and it is of ${version}`);
  }

  claimed(who: string, code: Code | undefined, tasks: readonly ClaimedTask[]): void {
    if (code === undefined) return;
    for (const { task, machine, version } of tasks) {
      if (!VERSIONED.includes(machine) || mayHave(code, machine, version)) continue;
      const given = `was given ${machine}@${version} ${task}`;
      this.#world.violate('I33', `${who} ${given}, and has only code ${code}`);
    }
  }

  /**
   * What its records say of versions, from its start to its end; answers which one they end under. Where
   * `isUnheard`, its last owner was cut off, and told these records only after the store had ended it: what
   * comes late says nothing about the row.
   */
  ended(
    { taskId: task, machine, version }: Pick<TaskRecord, 'taskId' | 'machine' | 'version'>,
    records: readonly PastRecord[],
    isUnheard: boolean,
  ): number {
    if (!VERSIONED.includes(machine) || records.length === 0) return version;
    const fault = (how: string) => this.#world.violate('I33', `${machine} ${task} ${how}`);
    let stands = 0;
    for (const { event } of records) {
      if (!isNaming(event)) continue;
      if (event.type === 'STARTED') {
        if (event.from !== undefined) this.#world.count('begun by a newer version');
        if (event.from !== undefined && event.from >= event.version) fault('was begun backwards');
      } else {
        this.#world.count(event.type === 'ADVANCED' ? 'advances' : 'upgrades');
        const isAllowed = MOVES[machine] === event.type && stands === 1 && event.version === 2;
        if (!isAllowed) fault(`was ${event.type} from ${stands} to ${event.version}`);
      }
      stands = event.version;
    }
    if (stands > version && isUnheard) this.#world.count('versions told too late');
    else if (stands !== version) {
      fault(`is of ${stands} by its records, and of ${version} by its row`);
    }
    return stands;
  }
}

function isNaming(
  event: RunEvent,
): event is Extract<RunEvent, { type: 'STARTED' | 'ADVANCED' | 'UPGRADED' }> {
  return NAMES_VERSION.includes(event.type);
}
