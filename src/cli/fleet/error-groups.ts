/** fleetq errors [filter...]: failures put together by what is the same about them, most frequent first. */
import { LIMIT_MAX } from '../../admin/index.ts';
import { isoTime, type Json, showDuration } from '../../ground/index.ts';
import type { ErrorGroup } from '../../store/index.ts';
import type { Execute } from '../command.ts';
import { Exit } from '../exit.ts';
import { readFilter } from '../filter.ts';
import { countOf } from '../runs.ts';
import type { Redact } from '../shown.ts';
import type { Column } from '../table.ts';
import { refuseTasksStatuses } from './list-tasks.ts';
import { withReader } from './open.ts';

const FLAGS = ['--limit', '--store', '--read-store', '--pooled', '--json'];
/** Longer than a page may look: nothing goes on from here, so what is not seen is not counted. */
const BUDGET_MS = 10_000;

export const errors: Execute = async ({ config, output }, options, ...words) => {
  const filter = readFilter(words.flat(), FLAGS);
  refuseTasksStatuses(filter);
  const countMax = countOf(options['limit'], '--limit', LIMIT_MAX);
  const { groups, lookedBackTo, now } = await withReader(config, async (reader) => ({
    ...(await reader.errors({ filter, countMax, budgetMs: BUDGET_MS })),
    now: await reader.now(),
  }));
  const found = groups.map((group) => ({ ...group, message: shownOf(group, output.redact) }));
  if (output.isJson) output.json({ groups: found, lookedBackTo });
  else if (found.length > 0) output.table(found, columns(now));
  else output.note('no such errors');
  if (!output.isJson && lookedBackTo !== undefined) output.note(lookedNote(lookedBackTo));
  const [first] = found;
  if (!first) return Exit.nothingFound;
  if (!output.isJson) output.note(`list those of one with: fleetq runs error:${first.fingerprint}`);
  return Exit.ok;
};

/** Of an error its message may be named as secret, here as in what is known of one run. */
function shownOf({ name, message }: ErrorGroup, redact: Redact): string {
  const shown = redact({ name, message }) as Readonly<Record<string, Json>>;
  return String(shown['message'] ?? '');
}

function lookedNote(lookedBackTo: number): string {
  const since = isoTime(lookedBackTo);
  return `its time was over: only tasks created since ${since} are counted; ask for less, such as machine:…`;
}

function columns(now: number): Column<ErrorGroup>[] {
  const ago = (at: number) => `${showDuration(Math.max(0, now - at))} ago`;
  return [
    { head: 'FINGERPRINT', text: ({ fingerprint }) => fingerprint },
    { head: 'COUNT', text: ({ count }) => `${count}`, align: 'right' },
    { head: 'MACHINE', text: ({ machine }) => machine, isElastic: true },
    { head: 'ERROR', text: ({ name }) => name, isElastic: true, style: () => 'red' },
    { head: 'FIRST', text: ({ firstAt }) => ago(firstAt), data: at('firstAt'), align: 'right' },
    { head: 'LAST', text: ({ lastAt }) => ago(lastAt), data: at('lastAt'), align: 'right' },
    { head: 'EXAMPLE', text: ({ example }) => example },
    { head: 'MESSAGE', text: ({ message }) => message, isElastic: true },
  ];
}

function at(name: 'firstAt' | 'lastAt'): (group: ErrorGroup) => string {
  return (group) => isoTime(group[name]);
}
