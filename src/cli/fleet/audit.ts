/** fleetq audit [--task id] [--who name] [--what deed]: what people have done, newest first. */
import { LIMIT_MAX } from '../../admin/index.ts';
import { isoTime, type RunId, showDuration } from '../../ground/index.ts';
import type { AuditRow } from '../../store/reader.ts';
import type { Execute } from '../command.ts';
import { Exit } from '../exit.ts';
import { given, pageNotes } from '../next-page.ts';
import { countOf, idOf } from '../runs.ts';
import type { Column } from '../table.ts';
import { withReader } from './open.ts';

export const audit: Execute = async ({ config, output }, options) => {
  const countMax = countOf(options['limit'], '--limit', LIMIT_MAX);
  const task = idOf(options['task'] as RunId | undefined, '--task');
  const [who, what] = [options['who'], options['what']] as (string | undefined)[];
  const query = { task, who, what, cursor: options['cursor'] as string | undefined, countMax };
  const { rows, cursor } = await withReader(config, (reader) => reader.audit(query));
  if (output.isJson) output.json({ audit: rows.map(viewOf), cursor });
  else if (rows.length > 0) output.table(rows, COLUMNS);
  else if (cursor === undefined) output.note('nobody has changed anything like that');
  else output.note('nobody has changed anything like that lately');
  const command = ['audit', ...given(options, ['task', 'who', 'what', 'limit'])];
  if (!output.isJson) for (const note of pageNotes({ command, cursor })) output.note(note);
  return rows.length > 0 ? Exit.ok : Exit.nothingFound;
};

function viewOf({ detail, at, ...row }: AuditRow) {
  // By the digest what was said could be guessed at.
  const { digest: _, ...told } = detailOf(detail);
  return { ...row, at: isoTime(at), detail: told };
}

/** The log may hold rows that others have put there. */
function detailOf(text: string | undefined): Record<string, unknown> {
  try {
    return Object(JSON.parse(text ?? '{}')) as Record<string, unknown>;
  } catch {
    return { text };
  }
}

function apiText({ api, cap, forMs }: Record<string, unknown>): string {
  if (typeof api !== 'string') return '';
  const to = typeof cap === 'number' ? ` to ${cap}` : '';
  return `${api}${to}${typeof forMs === 'number' ? ` for ${showDuration(forMs)}` : ''}`;
}

const COLUMNS: readonly Column<AuditRow>[] = [
  { head: 'AT', text: ({ at }) => isoTime(at) },
  { head: 'WHO', text: ({ who }) => who, isElastic: true },
  { head: 'WHAT', text: ({ what }) => what },
  // What was changed is a task, or else an API.
  { head: 'TASK', text: ({ task, detail }) => task ?? apiText(detailOf(detail)), isElastic: true },
  { head: 'VIA', text: ({ detail }) => String(detailOf(detail)['via'] ?? ''), isElastic: true },
  { head: 'WHY', text: ({ detail }) => String(detailOf(detail)['reason'] ?? ''), isElastic: true },
];
