/**
 * Statements of the archive. Each is one that may be sent again: rows are merged by their keys, and what
 * an earlier tenure sends late is told by its epoch. `source` is the name of the sink.
 */
import { FLATTENED, NOW, sql } from './sql.ts';

type Kind = 'varchar' | 'number(19,0)' | 'boolean';
type Column = readonly [name: string, kind: Kind];

const texts = (...names: string[]): Column[] => names.map((name) => [name, 'varchar']);
const counts = (...names: string[]): Column[] => names.map((name) => [name, 'number(19,0)']);

const SEGMENT_KEY: readonly Column[] = [
  ...texts('source', 'task_id'),
  ...counts('generation', 'epoch', 'first_seq'),
];
const SEGMENT: readonly Column[] = [
  ...counts('last_seq'),
  ...texts('prev_hash', 'last_hash', 'state', 'events'),
  ...counts('begun_at', 'sink_epoch'),
];
const TASK_KEY = texts('source', 'task_id');
const TASK: readonly Column[] = [
  ...counts('generation'),
  ...texts('machine'),
  ...counts('version'),
  ...texts('queue'),
  ...counts('priority', 'run_at'),
  ...texts('status', 'wait_for'),
  ...counts('claim_epoch'),
  ...texts('claimed_by'),
  ...counts('retry_count', 'crashes', 'claims'),
  ['paused', 'boolean'],
  ...texts('task_key', 'serial_key', 'parent_id', 'follows'),
  ...counts('deadline_at'),
  ...texts('payload', 'outcome', 'result', 'error'),
  ...counts('last_seq'),
  ...texts('last_hash', 'trace_parent'),
  ...counts('created_at', 'last_update', 'finished_at', 'discarded_at', 'sink_epoch'),
];

function mergeInto(
  table: string,
  key: readonly Column[],
  rest: readonly Column[],
  isNewer: string,
): string {
  const all = [...key, ...rest];
  const names = all.map(([name]) => name);
  const bound = all.map(([name, kind]) => `f.value:${name}::${kind} as ${name}`);
  return `merge into ${table} using (select ${bound.join(', ')} from ${FLATTENED}) s
    on ${key.map(([name]) => `${table}.${name} = s.${name}`).join(' and ')}
    when matched and ${isNewer} then update set
      ${rest.map(([name]) => `${name} = s.${name}`).join(', ')}
    when not matched then insert (${names.join(', ')})
      values (${names.map((name) => `s.${name}`).join(', ')})`;
}

/** ? segments. Longer ones, or what another tenure finds otherwise: the source is right. */
export const mergeSegments = mergeInto(
  'archived_segment',
  SEGMENT_KEY,
  SEGMENT,
  `(s.sink_epoch = archived_segment.sink_epoch and s.last_seq > archived_segment.last_seq
      or s.sink_epoch > archived_segment.sink_epoch
        and s.last_hash <> archived_segment.last_hash)`,
);

/** ? tasks. As they were read last, by whoever took over last. */
export const mergeTasks = mergeInto(
  'archived_task',
  TASK_KEY,
  TASK,
  's.sink_epoch >= archived_task.sink_epoch',
);

/** ? source. */
export const selectPosition = sql`
  select p.sink_epoch, p.holder, p.position from archive_position p where p.source = ?`;

/** ? source, ? holder, ? position. Where there is none yet. */
export const insertPosition = sql`
  merge into archive_position using (select ?::varchar as source, ?::varchar as holder,
      ?::varchar as position) s on archive_position.source = s.source
  when not matched then insert (source, sink_epoch, holder, position, written_at)
    values (s.source, 1, s.holder, s.position, ${NOW})`;

/** ? new epoch, ? holder, ? source, ? epoch as it was seen. */
export const takePosition = sql`
  update archive_position set sink_epoch = ?, holder = ? where source = ? and sink_epoch = ?`;

/** ? position, ? source, ? epoch, ? holder. Nothing where another has taken over. */
export const writePosition = sql`
  update archive_position set position = ?, written_at = ${NOW}
   where source = ? and sink_epoch = ? and holder = ?`;

export const createVersions = sql`create table if not exists sink_version (
  version number(9,0) not null, name varchar not null, checksum varchar not null)`;

export const selectVersions = sql`select v.version, v.name, v.checksum
  from sink_version v order by v.version`;

/** ? version, ? name, ? checksum: once, however many migrate. */
export const insertVersion = sql`
  merge into sink_version using (select ?::number(9,0) as version, ?::varchar as name,
      ?::varchar as checksum) s on sink_version.version = s.version
  when not matched then insert (version, name, checksum)
    values (s.version, s.name, s.checksum)`;
