/** Whether an account takes what `fleetq sink` sends: another user of it, perhaps, and other texts. */
import type { Cells } from '../../sink/sink.ts';
import { openerOf } from '../driver.ts';
import { SnowflakeSink } from '../snowflake-sink.ts';
import { type Bench, codeOf, refusalOf } from './bench.ts';
import * as texts from './probe.sql.ts';
import type { Question } from './questions.ts';

const VIEWS = ['archive_tasks', 'archive_events'] as const;

export const archive: Question = {
  name: 'archive',
  asks: 'Does the account take every statement of fleetq sink, in a schema of its own?',
  ask: async (bench) => {
    const schema = `fleetq_probe_${bench.tag}_archive`;
    const refused = await refusalOf(bench.one((ask) => ask(texts.createSchema(schema))));
    const concludes = 'a store in Snowflake needs none of it: fleetq sink cannot send there';
    if (refused) {
      const answer = `not asked: the role may make no schema (${codeOf(refused)})`;
      return { verdict: 'warn', answer, concludes, figures: { asked: false } };
    }
    try {
      const no = await refusalOf(send(bench, schema));
      if (!no) return { verdict: 'ok', answer: 'yes', concludes: 'fleetq sink can send there' };
      return { verdict: 'warn', answer: `no: ${codeOf(no)}: ${no.message}`, concludes };
    } finally {
      await bench.dropSchema(schema);
    }
  },
};

/** What one round sends, twice: the second time it is there already. */
async function send(bench: Bench, schema: string): Promise<void> {
  const { clock, random } = bench.sessions;
  const open = await openerOf({ ...bench.way, schema });
  const { deadlineMs } = bench.way;
  const sink = new SnowflakeSink({ open, deadlineMs, name: 'probe', clock, random });
  try {
    await sink.prepare(true);
    for (const holder of ['one', 'other']) {
      const position = await sink.takeOver(holder);
      await sink.put({ events: [EVENT], rows: [TASK], position });
    }
  } finally {
    await sink.close();
  }
  const session = await open();
  try {
    for (const view of VIEWS) await session.execute(texts.selectView(view), []);
  } finally {
    await session.close();
  }
}

const EVENT: Cells = {
  ...{ task_id: 'probe', generation: 1, epoch: 1, first_seq: 0, last_seq: 0, prev_hash: '' },
  ...{ last_hash: 'a', state: 'probe', events: '[{"seq":0,"at":0}]', begun_at: 0 },
};

const TASK: Cells = {
  ...{ task_id: 'probe', generation: 1, machine: 'fleetq/probe', version: 1, queue: 'default' },
  ...{ priority: 0, run_at: 0, status: 'pending', claim_epoch: 0, retry_count: 0, crashes: 0 },
  ...{ claims: 0, paused: false, payload: '{}', last_seq: -1, created_at: 0, last_update: 0 },
};
