/** Tasks on their way in: enqueued, claimed, found again by their owner, or shown by their host. */
import type { StartNote } from '../acts.ts';
import { StoreRefusedError } from '../errors.ts';
import * as rules from '../memory/claims.ts';
import type { CheckAnswers, MirrorAnswer } from '../store.ts';
import type { ClaimedTask, ClaimRequest, EnqueueAnswer, MirroredRun, NewTask } from '../tasks.ts';
import { type PodId, SUSPECT_CRASHES } from '../words.ts';
import type { Calls } from './calls.ts';
import { STEP_TRACKER } from './columns.ts';
import {
  gather,
  gatherAudits,
  gatherPods,
  gatherTasks,
  gatherTwins,
  heldAfter,
  type Reading,
} from './gather.ts';
import { limitOf } from './sql.ts';
import * as statements from './tasks-in.sql.ts';

export function enqueue(
  calls: Calls,
  tasks: readonly NewTask[],
  check?: CheckAnswers,
  note?: StartNote,
): Promise<EnqueueAnswer[]> {
  refuseOrdered(tasks);
  return calls.change(
    async (reading) => {
      await gatherTwins(reading, tasks);
      if (note) await gatherAudits(reading, [note.requestId]);
    },
    (tables) => rules.enqueue(tables, tasks, check, note),
  );
}

/** Whose turn it is, and who waits for whom, would have to be one row for all of them; there is none. */
export function refuseOrdered(tasks: readonly NewTask[]): void {
  if (tasks.some(({ serialKey }) => serialKey !== undefined)) {
    throw new StoreRefusedError('a store in Snowflake has no serial keys', {
      hint: 'leave serialKey out, or keep the queue in Postgres',
    });
  }
  if (tasks.some(({ follows }) => follows !== undefined)) {
    throw new StoreRefusedError('a store in Snowflake has no tasks that follow others', {
      hint: 'enqueue it where the other one persists, or keep the queue in Postgres',
    });
  }
}

const CLAIM_ATTEMPTS = 4;
/** Rivals who meet at the head pick their own out of so many times as many. */
const SPREAD = 4;

export async function claim(calls: Calls, request: ClaimRequest): Promise<ClaimedTask[]> {
  const claimed: ClaimedTask[] = [];
  for (let attempt = 1; attempt <= CLAIM_ATTEMPTS; attempt += 1) {
    const countMax = request.countMax - claimed.length;
    if (countMax < 1) break;
    const limit = limitOf(attempt === 1 ? countMax : countMax * SPREAD);
    let isThereMore = false;
    const { result, written, wanted } = await calls.changeEach(
      async (reading) => {
        isThereMore = (await gatherReady(reading, request, limit)) >= countMax;
        if (attempt > 1) thin(calls, reading, countMax);
      },
      (tables) => rules.claim(tables, { ...request, countMax }),
      { fence: { pod: request.pod, is: 'up' } },
    );
    claimed.push(...result.filter(({ task }) => written.has(task)));
    if (written.size === wanted.size || !isThereMore) break;
  }
  return claimed;
}

function gatherReady(reading: Reading, request: ClaimRequest, limit: number): Promise<number> {
  const { routes, pod, journal, head } = request;
  reading.desk.assumeUp(pod);
  const isSuspect = head === 'suspect' ? 1 : 0;
  const text = statements.selectReady(limit);
  return gather(reading, STEP_TRACKER, text, [isSuspect, journal, JSON.stringify(routes), pod]);
}

/** Leaves as many of the rows as are wanted, picked by chance. */
function thin({ sessions: { random } }: Calls, { desk }: Reading, count: number): void {
  const ids = [...desk.tables.tasks.keys()];
  for (let surplus = ids.length - count; surplus > 0; surplus -= 1) {
    const [id] = ids.splice(Math.floor(random.fraction() * ids.length), 1);
    desk.forget(id!);
  }
}

export function held(
  calls: Calls,
  pod: PodId,
  after: string,
  countMax: number,
  payloadBytesMax?: number,
): Promise<ClaimedTask[]> {
  return calls.look(
    (reading) => gather(reading, STEP_TRACKER, heldAfter(limitOf(countMax)), [pod, after]),
    (tables) => rules.held(tables, pod, after, countMax, payloadBytesMax),
  );
}

export function hasSuspects(calls: Calls, routes: readonly string[]): Promise<boolean> {
  return calls.look(
    (reading) =>
      gather(reading, STEP_TRACKER, statements.selectSuspect, [
        SUSPECT_CRASHES,
        JSON.stringify(routes),
      ]),
    (tables) => rules.hasSuspects(tables, routes),
  );
}

export function mirror(
  calls: Calls,
  pod: PodId,
  runs: readonly MirroredRun[],
): Promise<MirrorAnswer[]> {
  const ids = runs.map(({ id }) => id);
  return calls.change(
    async (reading) => {
      await gatherPods(reading, [pod]);
      await gatherTasks(reading, ids);
    },
    (tables) => rules.mirror(tables, pod, runs),
    { isDoubtful: (answers) => answers.some(({ kind }) => kind === 'foreign') },
  );
}
