/** What runs again and again: schedules, their next ticks, and what people change about them. */
import * as z from 'zod';
import { type ScheduleView, schedulePlanOf, scheduleViewsOf } from '../../fleet/index.ts';
import { type Duration, isoTime } from '../../ground/index.ts';
import {
  ScheduleNotFoundError,
  type ScheduleOrder,
  type SchedulePlan,
  type ScheduleRow,
  type StoreReader,
} from '../../store/index.ts';
import type { Desk } from '../desk/desk.ts';
import { type Shown, showing } from '../desk/mask.ts';
import { sharedOf } from '../desk/need-store.ts';
import { refuseUnknown } from '../limits.ts';
import { badRequest, RequestError } from '../problem.ts';
import { type Asked, ok, type Route, route } from '../table.ts';
import { tellActed } from './audit-note.ts';
import { Schedule, ScheduleChanged, wanted } from './schedule-shapes.ts';
import { guarded, limit, reason, text, whole } from './shapes.ts';

const COUNT_OTHERWISE = 50;
const NEXT_OTHERWISE = 5;
/** Of each in a list; one by its name tells more. */
const NEXT_LISTED_MAX = 10;

const said = { reason, dryRun: guarded.dryRun };

export const scheduleRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/schedules',
    role: 'read',
    changes: 'none',
    summary: 'what runs again and again, by name',
    query: {
      cursor: text(100).optional(),
      limit,
      next: whole(1, NEXT_LISTED_MAX)
        .optional()
        .describe('how many ticks to come are told of each'),
    },
    answers: {
      status: 200,
      schema: z.strictObject({ schedules: z.array(Schedule), cursor: z.string().optional() }),
    },
    answer: async ({ desk, door, query }) => {
      const reader = await readerOf(desk);
      const { limit: countMax = COUNT_OTHERWISE, cursor: after } = query;
      const rows = await reader.schedules({ after, countMax });
      const shown = showing(door.isMasked, desk.redacted);
      const views = await scheduleViewsOf(rows, reader, query.next);
      const schedules = views.map((view) => told(view, shown));
      const cursor = rows.length < countMax ? undefined : rows.at(-1)?.name;
      return ok({ schedules, cursor });
    },
  }),
  route({
    method: 'GET',
    path: '/schedules/:id',
    role: 'read',
    changes: 'none',
    summary: 'one of them, a removed one too, with its next ticks',
    query: { next: whole(1, 100).optional().describe('how many ticks to come are told') },
    answers: { status: 200, schema: Schedule },
    answer: async ({ desk, door, id, query }) => {
      const reader = await readerOf(desk);
      const [row] = await reader.schedules({ names: [id], countMax: 1 });
      if (!row) throw new ScheduleNotFoundError(id);
      const shown = showing(door.isMasked, desk.redacted);
      return ok(await toldOf(row, reader, shown, query.next));
    },
  }),
  route({
    method: 'POST',
    path: '/schedules/:id',
    role: 'operate',
    changes: 'act',
    summary: 'makes a schedule of that name, or changes what it says',
    query: {},
    body: wanted,
    answers: { status: 200, schema: ScheduleChanged },
    answer: async (asked) => {
      const { cron, input = null, jitter, dryRun: _, reason: __, ...rest } = asked.body;
      const plan = schedulePlanOf({ ...rest, cron, input, jitter: jitter as Duration | undefined });
      await checkInput(asked.desk, plan);
      return changed(asked, { what: 'set', plan });
    },
  }),
  order('pause', 'lets it tick no more until it is resumed'),
  order('resume', 'lets it go on, with the next tick from now'),
  order('remove', 'lets it tick no more; code that declares it does not bring it back'),
  route({
    method: 'POST',
    path: '/schedules/:id/run',
    role: 'operate',
    changes: 'act',
    summary: 'one run now, beside its ticks; once for an Idempotency-Key',
    query: {},
    body: said,
    answers: { status: 200, schema: ScheduleChanged },
    answer: async (asked) => {
      const reader = await readerOf(asked.desk);
      const [row] = await reader.schedules({ names: [asked.id], countMax: 1 });
      if (!row) throw new ScheduleNotFoundError(asked.id);
      refuseUnknown(asked.desk, row.machine);
      return changed(asked, row);
    },
  }),
];

function order(what: 'pause' | 'resume' | 'remove', summary: string): Route {
  return route({
    method: 'POST',
    path: `/schedules/:id/${what}`,
    role: 'operate',
    changes: 'act',
    summary,
    query: {},
    body: said,
    answers: { status: 200, schema: ScheduleChanged },
    answer: (asked) => changed(asked, { what }),
  });
}

type Wishing = Asked<
  unknown,
  { readonly reason?: string | undefined; readonly dryRun?: boolean | undefined }
>;

/** Of a row a run is wanted. */
async function changed(
  asked: Wishing,
  wish: Exclude<ScheduleOrder, { what: 'run' }> | ScheduleRow,
) {
  const { desk, door, id: name, requestId, who, ifRevision } = asked;
  if (ifRevision !== undefined)
    throw badRequest('a schedule has no revision of that kind: leave If-Match out');
  const shared = sharedOf(desk, 'a schedule');
  const { reason, dryRun: isDryRun } = asked.body;
  const by = { requestId, who: who?.name ?? 'nobody', via: 'api', reason, isDryRun };
  const answer =
    'what' in wish
      ? await shared.port.changeSchedule({ name, order: wish, ...by })
      : await shared.port.runSchedule(wish, by);
  if (answer.kind === 'refused') {
    if (answer.why === 'unknown') throw new ScheduleNotFoundError(name);
    throw new RequestError(409, 'FLEETQ_REFUSED', `${answer.why}: ${answer.detail}`);
  }
  const { kind, isRepeated, schedule, run } = answer;
  const what = 'what' in wish ? wish.what : 'run';
  if (!answer.isDryRun) tellActed(asked, `schedule.${what}`, run);
  const shown = showing(door.isMasked, desk.redacted);
  const view = await toldOf(schedule, await shared.reader(), shown);
  return ok({ kind, isRepeated, isDryRun: answer.isDryRun, requestId, schedule: view, run });
}

/** Where this process has the machine; whoever has it says so at the first tick otherwise. */
async function checkInput(desk: Desk, { machine, payload, tickAs }: SchedulePlan): Promise<void> {
  if (!desk.machines.some(({ name }) => name === machine)) return;
  const input = JSON.parse(payload) as object;
  const tick = isoTime(desk.clock.now());
  const given = tickAs === undefined ? input : { ...input, [tickAs]: tick };
  await sharedOf(desk, 'a schedule').port.checkInput(machine, given);
}

function readerOf(desk: Desk): Promise<StoreReader> {
  return sharedOf(desk, 'schedules').reader();
}

async function toldOf(
  row: ScheduleRow,
  reader: StoreReader,
  shown: Shown,
  nextCount = NEXT_OTHERWISE,
): Promise<object> {
  const [view] = await scheduleViewsOf([row], reader, nextCount);
  return told(view!, shown);
}

/** What a machine says of an input that it refuses may be the input. */
function told(view: ScheduleView, shown: Shown): object {
  return { ...view, input: shown.value(view.input), trouble: shown.text(view.trouble) };
}
