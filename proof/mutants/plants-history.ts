// biome-ignore-all lint/suspicious/noTemplateCurlyInString: it quotes source that has templates
/** Bugs in how histories reach the store, and how they are read back. */
import { type Mutant, tests } from './mutant.ts';

const EVENTS = 'src/store/postgres/run-events.sql.ts';
const SETTLER = 'src/store/postgres/settler.ts';
const ARCHIVER = 'src/fleet/archiver.ts';
const HISTORY = 'src/fleet/history.ts';
const kept = tests('test/store/postgres.store.test.ts', '^the postgres store history');

export const HISTORIES: readonly Mutant[] = [
  {
    name: 'archive-without-on-conflict',
    breaks: 'a flush whose answer was lost cannot be sent again (I15)',
    changes: [{ file: EVENTS, find: '  ${extendSegment}\n  returning', put: '  returning' }],
    command: kept,
    shows: /a flush that is sent again changes nothing/,
  },
  {
    name: 'archive-does-nothing-on-conflict',
    breaks: 'a longer part is dropped for the shorter that is there: the history has a hole (I16)',
    changes: [
      {
        file: EVENTS,
        find: 'export const extendSegment = sql`${extend} where ${hasGrown}`;',
        put: 'export const extendSegment = sql`on conflict do nothing`;',
      },
    ],
    command: kept,
    shows: /H25: a longer segment of the same beginning replaces the shorter/,
  },
  {
    name: 'settle-does-nothing-on-conflict',
    breaks: 'an end stands whose tail is another history than the stored one (I13)',
    changes: [
      {
        file: EVENTS,
        find: 'export const extendOrRefuse = sql`${extend}\n',
        put: 'export const extendOrRefuse = sql`on conflict do nothing`;\nexport const never = sql`${extend}\n',
      },
    ],
    command: tests('test/store/postgres.store.test.ts', '^the postgres store settling'),
    shows: /a settlement whose tail is another history than the stored one is refused/,
  },
  {
    name: 'segment-key-without-epoch',
    breaks: 'a late flush of a former owner meets the records of the next one (I13)',
    changes: [
      {
        file: 'migrations/postgres/0004_create_run_events.sql',
        find: 'primary key (task_id, generation, epoch, first_seq)',
        put: 'primary key (task_id, generation, first_seq)',
      },
      {
        file: EVENTS,
        find: 'on conflict (task_id, generation, epoch, first_seq) do update',
        put: 'on conflict (task_id, generation, first_seq) do update',
      },
    ],
    command: kept,
    shows: /H2: a late flush after a hand-over|segments are kept as they came/,
  },
  {
    name: 'fork-taken-for-held',
    breaks: 'other records under the same numbers are not noticed (I13)',
    changes: [
      {
        file: SETTLER,
        find: "return { task, kind: 'forked', reason: `the store holds other records under ${numbers}` };",
        put: "return numbers === '' ? { task, kind: 'forked', reason: '' } : { task, kind: 'held' };",
      },
    ],
    command: kept,
    shows: /other records under the same numbers are a fork/,
  },
  {
    name: 'archive-in-any-order',
    breaks: 'two flushes of the same runs wait for each other',
    changes: [
      {
        file: EVENTS,
        find: '   order by task_id collate "C", generation, epoch, first_seq\n  ${extendSegment}',
        put: '  ${extendSegment}',
      },
    ],
    command: tests('test/store/postgres-edges.store.test.ts'),
    shows: /flushes of the same runs in opposite order never deadlock/,
  },
  {
    name: 'archived-before-the-answer',
    breaks: 'records count as stored before the store has said so: a flush that fails loses them',
    changes: [
      {
        file: ARCHIVER,
        find: '    let answers: readonly ArchiveAnswer[];\n',
        put: `    for (const { held, segment } of batch) {
      this.#ports.holdings.unflushed -= held.archived(segment.lastSeq);
    }
    let answers: readonly ArchiveAnswer[];
`,
      },
    ],
    command: tests('test/fleet/archiver.test.ts'),
    shows: /whoever must not repeat a phase waits until the store has it/,
  },
  {
    name: 'sync-flush-not-waited-for',
    breaks: 'the phase after one with flush sync begins before the store has its record (I19)',
    changes: [
      {
        file: 'src/engine/recorder.ts',
        find: 'if (run.tie && isSync(run.plan, from)) return run.tie.flushed();',
        put: 'if (run.tie && isSync(run.plan, from)) void run.tie.flushed();',
      },
    ],
    command: tests('test/fleet/archive.test.ts'),
    shows: /flush: 'sync': the next phase begins when the store has the record/,
  },
  {
    name: 'late-flush-not-cut-off',
    breaks: 'what a former owner flushed late is read as part of the history (I13)',
    changes: [
      {
        file: HISTORY,
        find: 'parts.push(chain.rows.slice(0, count));',
        put: 'parts.push(chain.rows);',
      },
    ],
    command: tests('test/fleet/history.test.ts'),
    shows: /H2: what a former owner flushes late is cut off/,
  },
  {
    name: 'history-ignored-at-take-over',
    breaks: 'the next owner begins anew, whatever the store has (I19)',
    changes: [
      {
        file: 'src/fleet/acceptor.ts',
        find: 'rows = rowsOf(task.task, own, task.lastHash);',
        put: 'rows = own.slice(own.length) as never;',
      },
    ],
    command: tests('test/fleet/sweep.test.ts', 'I37: a dead pod is swept'),
    shows: /I37: a dead pod is swept/,
  },
  {
    name: 'history-read-without-the-row',
    breaks: 'a late flush is read as the history of a task that was settled as it was found (I13)',
    changes: [
      {
        file: 'src/cli/fleet/history.ts',
        find: 'rowsOf(id, segments, lastHash);',
        put: 'rowsOf(id, segments, lastHash && undefined);',
      },
    ],
    command: tests('test/fleet/late-flush.test.ts', '^I13'),
    shows: /I13: an end that was settled as it was found stands/,
  },
  {
    name: 'kept-outcome-not-followed',
    breaks: 'a redrive goes on from what was flushed late, and does again what was finished (I30)',
    changes: [
      {
        file: HISTORY,
        find: 'segments.find(isOutcome)?.lastHash ?? settledAt',
        put: 'settledAt',
      },
    ],
    command: tests('test/fleet/late-flush.test.ts', '^I13'),
    shows: /I13: an end that was settled as it was found stands/,
  },
  {
    name: 'take-over-without-the-row',
    breaks: 'what a fenced owner flushed late undoes what was given back since (I19)',
    changes: [
      {
        file: 'src/fleet/acceptor.ts',
        find: 'rows = rowsOf(task.task, own, task.lastHash);',
        put: 'rows = rowsOf(task.task, own, undefined);',
      },
    ],
    command: tests('test/fleet/late-flush.test.ts', '^I19'),
    shows: /I19: a task that was given back as it was found goes on from there/,
  },
];
