/** fleetq bulk list | show <id>: what is, or was, done to many tasks at once. */
import { LIMIT_MAX } from '../../admin/index.ts';
import { type BulkView, bulkViewsOf } from '../../fleet/index.ts';
import { isoTime, showDuration } from '../../ground/index.ts';
import type { Execute } from '../command.ts';
import { Exit } from '../exit.ts';
import { withReader } from '../fleet/open.ts';
import { given, pageNotes } from '../next-page.ts';
import type { Output } from '../output.ts';
import { countOf } from '../runs.ts';
import { type Column, plain } from '../table.ts';
import { bulkIdOf, findIn } from './find.ts';

export const list: Execute = async ({ config, output }, options) => {
  const countMax = countOf(options['limit'], '--limit', LIMIT_MAX);
  const before = options['cursor'] === undefined ? undefined : bulkIdOf(String(options['cursor']));
  const { bulks, now } = await withReader(config, async (reader) => ({
    bulks: await bulkViewsOf(await reader.bulks({ before, countMax }), reader),
    now: await reader.now(),
  }));
  const cursor = bulks.length < countMax ? undefined : bulks.at(-1)?.id;
  if (output.isJson) output.json({ bulks, cursor });
  else if (bulks.length > 0) output.table(bulks, columns(now));
  else output.note('nothing is, or was, done to many tasks at once');
  const command = ['bulk', 'list', ...given(options, ['limit'])];
  if (!output.isJson) for (const note of pageNotes({ command, cursor })) output.note(note);
  return bulks.length > 0 ? Exit.ok : Exit.nothingFound;
};

export const showOne: Execute = async ({ config, output }, _, id) => {
  const view = await withReader(config, (reader) => findIn(reader, bulkIdOf(id)));
  if (output.isJson) output.json(view);
  else showBulk(view, output);
  return Exit.ok;
};

/** Which of them, how far it is, and what refused. */
export function showBulk(view: BulkView, output: Output): void {
  const { id, what, filter, status, found, expected, rate, limit, shift, refusals } = view;
  const lines: readonly (readonly [string, string | undefined])[] = [
    ['id', id],
    ['does', [what, ...wordsOf(view.deed)].join(' ')],
    ['to', filter],
    ['status', [status, ...adverse(view)].join(', ')],
    ['found', `${count(found)}${expected === undefined ? '' : ` of ${count(expected)}`}`],
    ['done', count(view.done)],
    ['requested', view.requested > 0 ? count(view.requested) : undefined],
    ['already so', view.already > 0 ? count(view.already) : undefined],
    ['refused', view.refused > 0 ? `${count(view.refused)} (${told(refusals)})` : undefined],
    ['rate', `${rate}/s${limit === undefined ? '' : `, at most ${count(limit)}`}`],
    ['left', view.leftMs === undefined ? undefined : `about ${showDuration(view.leftMs)}`],
    ['by', `${view.who} via ${view.via}`],
    ['run', `${shift.run}${shift.pod === undefined ? '' : ` on ${shift.pod}`}`],
    ['begun', isoTime(view.createdAt)],
    ['ended', view.endedAt === undefined ? undefined : isoTime(view.endedAt)],
  ];
  for (const [name, text] of lines) {
    if (text !== undefined) output.line(`${name.padEnd(11)} ${plain(text)}`);
  }
  for (const { task, why, detail } of view.samples)
    output.line(`  ${task} ${why}: ${plain(detail)}`);
}

function adverse({ isStalled, isUnmanned }: BulkView): string[] {
  if (isStalled) return ['and nobody is at it: resume it'];
  return isUnmanned ? ['and no pod is up to go on with it: start a worker'] : [];
}

function wordsOf(deed: unknown): string[] {
  if (typeof deed !== 'object' || deed === null) return [];
  return Object.entries(deed).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
}

function told(refusals: BulkView['refusals']): string {
  return Object.entries(refusals)
    .map(([why, number]) => `${why} ${count(number ?? 0)}`)
    .join(', ');
}

const count = (value: number) => value.toLocaleString('en');

function columns(now: number): Column<BulkView>[] {
  return [
    { head: 'ID', text: ({ id }) => id },
    { head: 'DOES', text: ({ what }) => what },
    {
      head: 'STATUS',
      text: ({ status, isStalled, isUnmanned }) =>
        isStalled ? 'stalled' : isUnmanned ? 'no pod' : status,
      style: ({ isStalled, isUnmanned }) => (isStalled || isUnmanned ? 'red' : undefined),
    },
    { head: 'DONE', text: (view) => count(view.done + view.requested), align: 'right' },
    { head: 'ALREADY', text: ({ already }) => count(already), align: 'right' },
    { head: 'REFUSED', text: ({ refused }) => count(refused), align: 'right' },
    {
      head: 'OF',
      text: ({ expected, found }) =>
        expected === undefined ? `≥ ${count(found)}` : count(expected),
      data: ({ expected }) => (expected === undefined ? '' : String(expected)),
      align: 'right',
    },
    {
      head: 'BEGUN',
      text: ({ createdAt }) => `${showDuration(Math.max(0, now - createdAt))} ago`,
      data: ({ createdAt }) => isoTime(createdAt),
      align: 'right',
    },
    { head: 'BY', text: ({ who }) => who, isElastic: true },
    { head: 'FILTER', text: ({ filter }) => filter, isElastic: true },
  ];
}
