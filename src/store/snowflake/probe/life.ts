/**
 * A fleet's life in a schema of its own, which is dropped in the end: tables are made, and every kind of
 * statement that the store sends is sent. That an account takes each text can be shown in no other way.
 */
import { hash, runIdMint } from '../../../ground/index.ts';
import type { SchedulePlan } from '../../schedule/schedules.ts';
import type { NewTask, Segment } from '../../tasks.ts';
import type { Claim, PodId } from '../../words.ts';
import { openerOf } from '../driver.ts';
import type { TableKind } from '../migrate.ts';
import { openOver } from '../open.ts';
import type { SnowflakeStore } from '../snowflake-store.ts';
import { type Bench, codeOf, refusalOf } from './bench.ts';
import { looks } from './life-looks.ts';
import * as texts from './probe.sql.ts';
import type { Finding, Question } from './questions.ts';

const MACHINE = 'fleetq/probe';
const ROUTE = `${MACHINE}@1`;
const TASKS = 4;
const HOUR_MS = 3_600_000;

export const life = (kind: TableKind): Question => ({
  name: `every statement, ${kind}`,
  asks: 'Does the account take every statement of the store, in a schema of its own?',
  of: kind,
  isNeeded: true,
  ask: async (bench) => {
    const schema = `fleetq_probe_${bench.tag}_${kind}_life`;
    const refused = await refusalOf(bench.one((ask) => ask(texts.createSchema(schema))));
    if (refused) {
      const answer = `not asked: the role may make no schema (${codeOf(refused)})`;
      const concludes =
        'nobody knows whether FleetQ works here: grant create schema on database to the role, ' +
        'for as long as it takes, and ask again';
      return { verdict: 'fail', answer, concludes, figures: { asked: false } };
    }
    try {
      return await live(bench, kind, schema);
    } finally {
      await bench.dropSchema(schema);
    }
  },
});

async function live(bench: Bench, kind: TableKind, schema: string): Promise<Finding> {
  const { clock, random } = bench.sessions;
  const opener = await openerOf({ ...bench.way, schema });
  const limits = { deadlineMs: bench.way.deadlineMs, countMax: 2 };
  const store = await openOver(opener, limits, { clock, random, migrates: true }, kind);
  const asked: string[] = [];
  try {
    for (const [what, act] of [...deeds(store, bench), ...looks(store, MACHINE, ROUTE)]) {
      const refused = await refusalOf(act());
      if (refused) {
        const answer = `no: it could not ${what}: ${codeOf(refused)}: ${refused.message}`;
        const concludes = 'please report this: FleetQ does not work on these tables';
        return { verdict: 'fail', answer, concludes, figures: { asked: asked.length } };
      }
      asked.push(what);
    }
  } finally {
    await store.close();
  }
  const answer = `yes: ${asked.length} kinds of calls were answered`;
  return {
    verdict: 'ok',
    answer,
    concludes: 'pods can work here',
    figures: { asked: asked.length },
  };
}

type Deeds = readonly (readonly [what: string, act: () => Promise<unknown>])[];

/** What pods and people change, in the order in which it makes sense. */
function deeds(store: SnowflakeStore, bench: Bench): Deeds {
  const { clock, random } = bench.sessions;
  const mint = runIdMint(clock, random);
  const [pod, other] = ['probe', 'other'].map((name) => `${name}-${bench.tag}` as PodId);
  const tasks = Array.from({ length: TASKS }, () => taskOf(mint()));
  const claims: Claim[] = [];
  const by = { who: 'probe', via: 'probe' };
  const birth = (of: PodId) => ({
    ...{ pod: of, name: of, journal: of, boot: 1, lsn: 0, routes: [ROUTE] },
    ...{ report: {}, nonce: of, silenceMs: HOUR_MS },
  });
  const claim = (of: PodId, countMax: number) => async () => {
    const request = { pod: of, routes: [ROUTE], countMax, token: random.hex(8), journal: of };
    const taken = await store.claim({ ...request, head: 'ready' });
    if (taken.length !== countMax) throw new Error(`${taken.length} of ${countMax} were claimed`);
    claims.push(...taken);
  };
  const act = (requestId: string, deed: Parameters<typeof store.act>[0]['deed']) => () =>
    store.act({ ...by, requestId, task: tasks[3]!.id, deed });
  const schedule = { ...by, name: 'probe', requestId: 'schedule' };
  return [
    [
      'register',
      async () => [await store.register(birth(pod!)), await store.register(birth(other!))],
    ],
    ['announce', () => store.announce([{ route: ROUTE, fingerprint: 'a', shape: '{}' }])],
    ['enqueue', () => store.enqueue(tasks)],
    ['enqueue again', () => store.enqueue([{ ...tasks[0]!, id: mint() }])],
    ['claim', claim(pod!, 2)],
    ['beat', () => store.beat({ pod: pod!, seq: 0, nonce: 'b', lsn: 0, report: {}, leads: true })],
    ['archive', () => store.archive([segmentOf(claims[0]!, 0)])],
    ['settle', () => store.settle(pod!, [endOf(claims[0]!), parkOf(claims[1]!)])],
    ['begin a term', () => store.beginTerm(pod!, 1)],
    ['claim for another', claim(other!, 1)],
    ['fence', () => store.fence(other!, pod!, 'proved')],
    ['take', () => store.take({ ...TAKING, from: other!, by: pod! })],
    ['retire', () => store.retire(other!)],
    ['pause', act('pause', { what: 'pause' })],
    ['resume', act('resume', { what: 'resume' })],
    ['reschedule', act('reschedule', { what: 'reschedule', due: { afterMs: HOUR_MS } })],
    ['cancel', act('cancel', { what: 'cancel', reason: 'probe' })],
    ['note', () => store.note({ requestId: 'note', who: 'probe', what: 'probe', detail: {} })],
    ['publish', () => store.publishThrottles([{ api: 'probe', epoch: 0, state: '{}' }])],
    [
      'set a schedule',
      () => store.changeSchedule({ ...schedule, order: { what: 'set', plan: PLAN } }),
    ],
    ['fail the hopeless', () => store.failHopeless(HOUR_MS, 8)],
    ['rest', () => store.rest(pod!)],
    ['look at the bell', () => store.mark()],
    ['rise', () => store.rise(pod!)],
    ['drain', () => store.markDraining(pod!)],
    ['prune', () => store.prune(HOUR_MS, 8, HOUR_MS)],
  ];
}

const TAKING = { to: 'pool', countMax: TASKS, crashed: 'all', spreadMs: 0 } as const;

const PLAN: SchedulePlan = {
  ...{ machine: MACHINE, expression: '0 0 1 1 *', zone: 'UTC', payload: '{}', tickAs: undefined },
  ...{
    missed: 'skip' as const,
    overlap: 'allow' as const,
    jitterMs: 0,
    queue: 'default',
    priority: 0,
  },
};

function taskOf(id: NewTask['id']): NewTask {
  return {
    ...{ id, machine: MACHINE, version: 1, queue: 'default', priority: 0, due: undefined },
    ...{ payload: '{}', key: id, keyMs: HOUR_MS, retriesMax: undefined, deadlineMs: undefined },
    traceParent: undefined,
  };
}

function segmentOf({ task, generation, epoch }: Claim, seq: number): Segment {
  const lastHash = hash(`${task}:${seq}`);
  return {
    ...{ task, generation, epoch, firstSeq: seq, lastSeq: seq, lastHash, state: 'probe' },
    ...{ prevHash: seq === 0 ? '' : hash(`${task}:${seq - 1}`), events: `[{"seq":${seq}}]` },
  };
}

function leavingOf(claim: Claim, seq: number) {
  const tail = segmentOf(claim, seq);
  const { task, generation, epoch, lastSeq, lastHash } = tail;
  const counts = { retriesAdd: 0, hasCompletedStep: false };
  return { task, generation, epoch, tail, lastSeq, lastHash, ...counts };
}

function endOf(claim: Claim) {
  const ended = { outcome: 'completed', result: '{}', error: undefined };
  return { ...leavingOf(claim, 1), to: 'completed', ...ended } as const;
}

function parkOf(claim: Claim) {
  return { ...leavingOf(claim, 0), to: 'waiting', waitFor: 'sleep', afterMs: HOUR_MS } as const;
}
