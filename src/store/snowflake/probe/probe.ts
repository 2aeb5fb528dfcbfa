/**
 * Settles on a live account what its documentation leaves open, in about a minute: who wins when several
 * write one row, what waiting statements get, what is read by others and when, how long it all takes,
 * and whether it takes every statement of ours. It makes tables of its own, and removes them.
 */
import { describeError } from '../../../ground/index.ts';
import { StoreOptionsError } from '../../errors.ts';
import type { FilledStoreOptions } from '../../options.ts';
import { openerOf } from '../driver.ts';
import { meaningOf } from '../driver-errors.ts';
import type { TableKind } from '../migrate.ts';
import { readSnowflakeWay } from '../options.ts';
import { Sessions } from '../sessions.ts';
import * as answers from './answers.ts';
import { archive } from './archive.ts';
import { Bench } from './bench.ts';
import { life } from './life.ts';
import * as texts from './probe.sql.ts';
import type { Finding, ProbeAnswer, Question } from './questions.ts';
import * as races from './races.ts';
import { latency } from './times.ts';
import * as waits from './waits.ts';

export type { ProbeAnswer, ProbeVerdict } from './questions.ts';

export interface Probe {
  /** Nothing that FleetQ promises is in doubt there. */
  readonly isFit: boolean;
  /** Which tables to use; undefined where neither can be. */
  readonly tables: TableKind | undefined;
  readonly answers: readonly ProbeAnswer[];
  /** Tables and schemas that could not be removed. */
  readonly left: readonly string[];
  readonly elapsedMs: number;
}

export interface ProbeOptions extends FilledStoreOptions {
  /** Called with each answer as it comes. */
  readonly onAnswer?: (answer: ProbeAnswer) => void;
  /** Only questions of such names, and whether tables can be made. */
  readonly only?: RegExp;
  /** Nothing more is asked, and what was made is removed. */
  readonly signal?: AbortSignal;
}

const KINDS: readonly TableKind[] = ['hybrid', 'standard'];
/** Enough for the question of how many may wait. */
const SESSION_COUNT = 24;

const hybridTables: Question = {
  name: 'hybrid tables',
  asks: 'Does the account have hybrid tables?',
  ask: async (bench) => {
    try {
      await make(bench, 'hybrid');
    } catch (thrown) {
      const error = meaningOf(thrown);
      if (!(error instanceof StoreOptionsError)) throw thrown;
      const answer = `no: ${error.message}`;
      const concludes = 'use standard tables, with one writer at a time';
      return { verdict: 'warn', answer, concludes, figures: { works: false } };
    }
    const concludes = 'use them: rows are locked one by one, and keys are kept';
    return { verdict: 'ok', answer: 'yes', concludes, figures: { works: true } };
  },
};

const standardTables: Question = {
  name: 'standard tables',
  asks: 'May the role make tables, and write them?',
  isNeeded: true,
  ask: async (bench) => {
    await make(bench, 'standard');
    await bench.lay('standard');
    return { verdict: 'ok', answer: 'yes', concludes: 'what is asked next can be asked' };
  },
};

async function make(bench: Bench, kind: TableKind): Promise<void> {
  await bench.one((ask) => ask(texts.createTable(bench.tableOf(kind), kind)));
  bench.kinds.push(kind);
}

/** The cheap ones first, so that what is wrong with the role is said at once. */
const QUESTIONS: readonly Question[] = [
  ...[standardTables, hybridTables],
  ...KINDS.flatMap((kind) => [races.compareAndSet(kind), races.lostUpdates(kind)]),
  ...KINDS.map(waits.lockWait),
  ...[waits.rowLocks, waits.deadlock, waits.duplicateKey, waits.lockingRead, waits.waiters],
  ...[answers.sameRequest, ...KINDS.map(answers.oldReads), ...KINDS.map(answers.lastChange)],
  ...[answers.boundLimit, answers.inlineProcedure],
  ...KINDS.map(latency),
  ...[...KINDS.map(life), archive],
];

export async function probeSnowflake(address: string, options: ProbeOptions): Promise<Probe> {
  const { clock, random, onAnswer } = options;
  const way = readSnowflakeWay(address, options);
  const limits = { deadlineMs: way.deadlineMs, countMax: SESSION_COUNT };
  const sessions = new Sessions(await openerOf(way), limits, clock, random);
  const bench = new Bench({ way, sessions, tag: random.hex(4) });
  const begunMs = clock.monotonicMs();
  const given: ProbeAnswer[] = [];
  let left: readonly string[] = [];
  try {
    // Whoever is not let in hears of that, and of nothing else.
    await sessions.use(({ run }) => run(texts.selectNothing));
    for (const question of QUESTIONS) {
      if (given[0]?.verdict === 'fail' || options.signal?.aborted) break;
      if (!isAsked(question, bench, options.only)) continue;
      const answer = await answerOf(question, bench);
      given.push(answer);
      onAnswer?.(answer);
    }
  } finally {
    left = await bench.clear();
    await sessions.close();
  }
  const elapsedMs = Math.round(clock.monotonicMs() - begunMs);
  const tables = tablesOf(bench.kinds, given);
  return { isFit: tables !== undefined, tables, answers: given, left, elapsedMs };
}

function isAsked({ name, of }: Question, { kinds }: Bench, only: RegExp | undefined): boolean {
  if (of && !kinds.includes(of)) return false;
  return name.endsWith('tables') || (only?.test(name) ?? true);
}

async function answerOf(question: Question, bench: Bench): Promise<ProbeAnswer> {
  const begunMs = bench.nowMs();
  const { name, asks } = question;
  const found = await question.ask(bench).catch((error: unknown) => unanswered(question, error));
  return { name, asks, ...found, elapsedMs: Math.round(bench.nowMs() - begunMs) };
}

function unanswered({ isNeeded }: Question, error: unknown): Finding {
  const answer = `nobody knows: ${describeError(error).message.split('\n').join(' ')}`;
  return isNeeded
    ? { verdict: 'fail', answer, concludes: 'it has to be known: ask again, or mend what is said' }
    : { verdict: 'warn', answer, concludes: 'nothing rests on it' };
}

/** A kind of tables is fit where nothing that was asked of it, or of both, has failed. */
function tablesOf(
  kinds: readonly TableKind[],
  given: readonly ProbeAnswer[],
): TableKind | undefined {
  const failed = given.filter(({ verdict }) => verdict === 'fail').map(({ name }) => name);
  const isFit = (kind: TableKind) =>
    failed.every((name) => KINDS.some((other) => other !== kind && name.endsWith(`, ${other}`)));
  return KINDS.find((kind) => kinds.includes(kind) && isFit(kind));
}
