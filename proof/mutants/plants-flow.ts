/** Bugs in what keeps tasks waiting though they are there: turns, limits and those they follow. */
import { type Mutant, tool } from './mutant.ts';

/**
 * Noticed by small seeds: one in eight takes turns, one follows, one is on its own. What few of them come
 * across begins where one does.
 */
function plant(
  name: string,
  breaks: string,
  change: Mutant['changes'][number] | Mutant['changes'],
  shows: RegExp,
  from = 1,
): Mutant {
  const seeds = ['--seeds', '40', '--from', `${from}`];
  const command = tool('proof/main.ts', 'simulate', ...seeds, '--small', '--first');
  return { name, breaks, changes: [change].flat(), command, shows };
}

const [TURNS, FLOW, STORE] = [
  'src/store/memory/turns.ts',
  'src/store/memory/flow.ts',
  'src/store/memory/memory-store.ts',
];

export const FLOWS: readonly Mutant[] = [
  plant(
    'turn-given-twice',
    'a key whose turn is taken gives it to the next one all the same',
    { file: TURNS, find: '    if (held.has(keyOf(task))) continue;\n', put: '' },
    /turn: .* has the turn of|serial key has one holder/,
  ),
  plant(
    'turn-by-id',
    'the turn goes to whoever was enqueued first, and not to whoever is due first',
    { file: TURNS, find: 'due.sort(byDueTime)', put: 'due' },
    /turn: .* which was due first/,
    65,
  ),
  plant(
    'turn-before-its-time',
    'a task that is not due yet takes the turn of those that are',
    { file: TURNS, find: ' && task.runAt <= now,', put: ',' },
    /turn: .* before it is due/,
  ),
  plant(
    'turn-of-a-paused-task',
    'a task that somebody has paused before it began is in the way of all behind it',
    { file: TURNS, find: ' && !task.paused', put: '' },
    /turn: .* is paused/,
    41,
  ),
  plant(
    'sleeper-loses-its-turn',
    'a run that is parked gives its turn on, and is not over',
    {
      file: 'src/store/memory/settle.ts',
      find: '  keepPause(task);\n  letGo(task, now);\n',
      put: '  keepPause(task);\n  letGo(task, now);\n  task.serialHeld = false;\n',
    },
    /turn: |serial key/,
  ),
  plant(
    'orphan-loses-its-turn',
    'a run whose pod has died waits for its turn again, behind those that come after it',
    {
      file: 'src/store/memory/take.ts',
      find: "  task.status = 'pending';\n",
      put:
        "  task.status = task.serialKey === undefined ? 'pending' : 'waiting';\n" +
        "  task.waitFor = task.serialKey === undefined ? undefined : 'turn';\n" +
        '  task.serialHeld = false;\n',
    },
    /turn: /,
    49,
  ),
  plant(
    'turn-not-given-on',
    'whoever ends a run leaves it to chance when the next one has its turn',
    {
      file: STORE,
      find: 'withTurns(tables, () => settle(tables, pod, settlements))',
      put: 'settle(tables, pod, settlements)',
    },
    /turn: .* was not given its turn by settle|follow: .* waits after settle/,
  ),
  plant(
    'limit-off-by-one',
    'a queue takes in one more than its limit',
    { file: FLOW, find: 'if (isPaused || count >= (', put: 'if (isPaused || count > (' },
    /gate: .* whose limit is/,
  ),
  plant(
    'limit-of-each-claim',
    'what one claim takes is not counted against the limit',
    { file: FLOW, find: 'claimed.set(task.queue, count + 1);', put: '' },
    /gate: .* whose limit is/,
  ),
  plant(
    'paused-queue-goes-on',
    'tasks of a queue that is paused are claimed',
    { file: FLOW, find: 'if (isPaused || count >= (', put: 'if (count >= (' },
    /gate: .* is paused/,
  ),
  plant(
    'paused-machine-goes-on',
    'tasks of a machine that is paused are claimed',
    { file: FLOW, find: '    if (machines.has(task.machine)) return false;\n', put: '' },
    /gate: .* is paused/,
  ),
  plant(
    'flow-changed-twice',
    'a request to change a queue that is sent again undoes what came after it',
    {
      file: FLOW,
      find: '  if (answered) return answered;\n',
      put: '  if (answered) write(tables, deed, who);\n  if (answered) return answered;\n',
    },
    /gate: .* as people were told/,
  ),
  plant(
    'follower-not-awaited',
    'a task is due while the one that it follows is at work',
    [
      {
        file: 'src/store/memory/claims.ts',
        find: 'dueAt(follows ? { afterMs: FOLLOWER_DUE_MS } : task.due, now)',
        put: 'dueAt(task.due, now + FOLLOWER_DUE_MS * 0)',
      },
      {
        file: 'src/store/memory/claims.ts',
        find: 'status: isSerial || isLater',
        put: 'status: follows || isSerial || isLater',
      },
    ],
    /follow: /,
  ),
  plant(
    'follower-forgotten',
    'a task that follows another is not let go when that one is ended by whoever swept it',
    {
      file: STORE,
      find: 'withTurns(tables, () => take(tables, taking))',
      put: 'take(tables, taking)',
    },
    /follow: .* waits after take/,
    213,
  ),
  plant(
    'follower-despairs',
    'a task that waits for a success is ended while a dead letter may still be redriven',
    {
      file: 'src/store/follow.ts',
      find: "return followed.isDiscarded ? 'end' : 'wait';",
      put: "return 'end';",
    },
    /follow: .* was ended, and is to wait/,
  ),
  plant(
    'follower-of-the-cancelled',
    'a task that waits for a success goes where there will be none',
    {
      file: 'src/store/follow.ts',
      find: "    case 'cancelled':\n      return on === 'end' ? 'go' : 'end';",
      put: "    case 'cancelled':\n      return 'go';",
    },
    /follow: .* was let go, and is to end/,
  ),
  plant(
    'alone-for-ever',
    'a run that may go on alone for a while does so for ever (I10)',
    {
      file: 'src/fleet/held-run.ts',
      find: 'if (aloneMs === undefined || !this.#keeper.isCurrent(aloneMs)) return false;',
      put: 'if (aloneMs === undefined) return false;',
    },
    /I10: /,
    175,
  ),
  plant(
    'alone-without-leave',
    'a run goes on without the store though its machine has not said that it may (I10)',
    {
      file: 'src/engine/tie.ts',
      find: '!tie.isCurrent(plan.autonomousMs);',
      put: '!tie.isCurrent(plan.autonomousMs ?? 4_000);',
    },
    /I10: /,
  ),
];
