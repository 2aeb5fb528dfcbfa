/** fleetq audit [--task id] [--who name] [--what deed]: what people have changed, newest first. */
import { LIMIT_MAX } from '../../admin/index.ts';
import { isoTime } from '../../ground/index.ts';
import type { AuditRow } from '../../store/reader.ts';
import type { Execute } from '../command.ts';
import { Exit } from '../exit.ts';
import { countOf, idOf } from '../runs.ts';
import type { Column } from '../table.ts';
import { withStore } from './open.ts';

export const audit: Execute = async ({ config, output }, options) => {
  const countMax = countOf(options['limit'], '--limit', LIMIT_MAX);
  const task = idOf(options['task'] as string | undefined, '--task');
  const [who, what] = [options['who'], options['what']] as (string | undefined)[];
  const rows = await withStore(config, (store) => store.audited({ task, who, what, countMax }));
  if (output.isJson) output.json({ audit: rows.map(viewOf) });
  else if (rows.length > 0) output.table(rows, COLUMNS);
  else output.note('nobody has changed anything like that');
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

const COLUMNS: readonly Column<AuditRow>[] = [
  { head: 'AT', text: ({ at }) => isoTime(at) },
  { head: 'WHO', text: ({ who }) => who, isElastic: true },
  { head: 'WHAT', text: ({ what }) => what },
  { head: 'TASK', text: ({ task }) => task ?? '' },
  { head: 'VIA', text: ({ detail }) => String(detailOf(detail)['via'] ?? ''), isElastic: true },
  { head: 'WHY', text: ({ detail }) => String(detailOf(detail)['reason'] ?? ''), isElastic: true },
];
