/** fleetq schedules list | show <name> | next [name]: what runs again and again, and when. */
import { LIMIT_MAX } from '../../admin/index.ts';
import { type ScheduleView, scheduleViewsOf } from '../../fleet/index.ts';
import { isoTime, type Json, showDuration, systemClock } from '../../ground/index.ts';
import { ScheduleNotFoundError, type StoreReader, ticksOf } from '../../store/index.ts';
import type { Execute } from '../command.ts';
import { UsageError } from '../errors.ts';
import { Exit } from '../exit.ts';
import { withReader } from '../fleet/open.ts';
import { given, pageNotes } from '../next-page.ts';
import type { Output } from '../output.ts';
import { countOf } from '../runs.ts';
import { type Column, plain } from '../table.ts';

const NEXT_MAX = 100;

export const list: Execute = async ({ config, output }, options) => {
  const countMax = countOf(options['limit'], '--limit', LIMIT_MAX);
  const after = options['cursor'] === undefined ? undefined : String(options['cursor']);
  const { schedules, now } = await withReader(config, async (reader) => ({
    schedules: await scheduleViewsOf(await reader.schedules({ after, countMax }), reader),
    now: await reader.now(),
  }));
  const cursor = schedules.length < countMax ? undefined : schedules.at(-1)?.name;
  const shown = schedules.map((view) => redacted(view, output));
  if (output.isJson) output.json({ schedules: shown, cursor });
  else if (schedules.length > 0) output.table(schedules, columns(now));
  else output.note('there are no schedules');
  const command = ['schedules', 'list', ...given(options, ['limit'])];
  if (!output.isJson) for (const note of pageNotes({ command, cursor })) output.note(note);
  return schedules.length > 0 ? Exit.ok : Exit.nothingFound;
};

export const showOne: Execute = async ({ config, output }, _, name) => {
  const view = redacted(await withReader(config, (reader) => findIn(reader, name!)), output);
  if (output.isJson) output.json(view);
  else showSchedule(view, output);
  return Exit.ok;
};

export const next: Execute = async ({ config, output }, options, name) => {
  const count = countOf(options['count'], '--count', NEXT_MAX);
  const cron = options['cron'];
  if ((cron === undefined) === (name === undefined))
    throw new UsageError('say the name of a schedule, or an expression with --cron');
  if (cron === undefined && options['zone'] !== undefined)
    throw new UsageError('--zone is for --cron: a schedule has its own');
  const ticks =
    cron === undefined
      ? (await withReader(config, (reader) => findIn(reader, name!, count))).next
      : ticksFromNow(String(cron), String(options['zone'] ?? 'UTC'), count);
  if (output.isJson) output.json({ next: ticks.map(isoTime) });
  else for (const tick of ticks) output.line(isoTime(tick));
  if (ticks.length === 0) output.note('no tick is to come: is it paused, or removed?');
  return ticks.length > 0 ? Exit.ok : Exit.nothingFound;
};

function ticksFromNow(expression: string, zone: string, count: number): number[] {
  const ticks = ticksOf(expression, zone);
  const found: number[] = [];
  let tick = ticks.after(systemClock.now());
  while (tick !== undefined && found.length < count) {
    found.push(tick);
    tick = ticks.after(tick);
  }
  return found;
}

export async function findIn(
  reader: StoreReader,
  name: string,
  nextCount = 5,
): Promise<ScheduleView> {
  const rows = await reader.schedules({ names: [name], countMax: 1 });
  const [view] = await scheduleViewsOf(rows, reader, nextCount);
  if (!view) throw new ScheduleNotFoundError(name);
  return view;
}

/** What is named as secret is shown to nobody. */
function redacted(view: ScheduleView, output: Output): ScheduleView {
  return { ...view, input: output.redact(view.input as Json) };
}

function showSchedule(view: ScheduleView, output: Output): void {
  const { name, machine, cron, zone, missed, jitterMs, tickAs, lastAt, lastRun, lastRunAt } = view;
  const ran = lastRunAt === undefined ? undefined : `${isoTime(lastRunAt)} ${lastRun ?? ''}`.trim();
  const lines: readonly (readonly [string, string | undefined])[] = [
    ['name', name],
    ['status', [view.status, ...adverse(view)].join(', ')],
    ['trouble', view.trouble],
    ['machine', machine],
    ['cron', `${cron} in ${zone}`],
    ['input', JSON.stringify(view.input)],
    ['tick as', tickAs],
    ['missed', missed],
    ['overlap', view.overlap === 'skip' ? 'skip: one run at a time' : undefined],
    ['jitter', jitterMs > 0 ? showDuration(jitterMs) : undefined],
    ['queue', view.queue],
    ['priority', String(view.priority)],
    ['said by', view.source === 'code' ? `code, revision ${view.revision}` : 'people'],
    ['ticks', view.ticks.toLocaleString('en')],
    ['skipped', view.skipped > 0 ? view.skipped.toLocaleString('en') : undefined],
    ['last tick', lastAt === undefined ? undefined : isoTime(lastAt)],
    ['last run', ran],
    ['next', view.next.map(isoTime).join(' ') || undefined],
    ['changed', isoTime(view.updatedAt)],
  ];
  for (const [head, text] of lines) {
    if (text !== undefined) output.line(`${head.padEnd(9)} ${plain(text)}`);
  }
}

function adverse({ isUnmanned }: ScheduleView): string[] {
  return isUnmanned ? ['and no pod that is up has its machine: start one'] : [];
}

function columns(now: number): Column<ScheduleView>[] {
  return [
    { head: 'NAME', text: ({ name }) => name, isElastic: true },
    {
      head: 'STATUS',
      text: ({ status, isUnmanned, trouble }) =>
        isUnmanned ? 'no pod' : trouble === undefined ? status : 'trouble',
      style: ({ isUnmanned, trouble }) => (isUnmanned || trouble !== undefined ? 'red' : undefined),
    },
    { head: 'CRON', text: ({ cron }) => cron },
    { head: 'ZONE', text: ({ zone }) => zone, isElastic: true },
    { head: 'MACHINE', text: ({ machine }) => machine, isElastic: true },
    {
      head: 'NEXT',
      text: ({ next: [tick] }) =>
        tick === undefined ? '-' : `in ${showDuration(Math.max(0, tick - now))}`,
      data: ({ next: [tick] }) => (tick === undefined ? '' : isoTime(tick)),
      align: 'right',
    },
    { head: 'TICKS', text: ({ ticks }) => ticks.toLocaleString('en'), align: 'right' },
  ];
}
