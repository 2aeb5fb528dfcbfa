/** fleetq enqueue <machine> --input json | --file many.jsonl: gives tasks to the fleet. */
import { refuseUnknown } from '../../admin/index.ts';
import { enqueueMany, type ManyBatch } from '../../fleet/enqueue-many.ts';
import { BadItemError, TaskKeyConflictError } from '../../fleet/errors.ts';
import type { Tasks } from '../../fleet/tasks.ts';
import { parseDuration, systemClock, systemRandom } from '../../ground/index.ts';
import { type Plan, parseInput, Registry } from '../../machine/index.ts';
import { enqueueTraced } from '../../tracing.ts';
import type { Context, Execute, Options } from '../command.ts';
import { UsageError } from '../errors.ts';
import { Exit, type ExitCode } from '../exit.ts';
import { tracingBy } from '../host.ts';
import {
  inheritedTraceParent,
  readDue,
  readInput,
  readKey,
  readPriority,
  readRetriesMax,
  readTaskKey,
  readTraceParent,
  readWait,
} from '../input.ts';
import type { Io } from '../io.ts';
import { loadMachines } from '../machines.ts';
import { BadLineError, Lines, type Words } from './jsonl.ts';
import { withTasks } from './open.ts';
import { Progress } from './progress.ts';
import { readFollows } from './read-follows.ts';
import { waitFor } from './wait.ts';

/** Whoever looks at the bar, or reads the ids, hears of them so often. */
const BATCH_COUNT = 500;

export const enqueue: Execute = async (context, options, machine) => {
  const { output, io } = context;
  const timeoutMs = readWait(options);
  const words = wordsOf(options, parseDuration(context.config.retention) ?? 0, io.env);
  const plan = await planFor(context, machine!);
  if (options['file'] !== undefined) return enqueueFile(context, options, plan, words);
  const wanted = {
    input: await readInput(String(options['input'] ?? 'null'), io),
    options: { ...words, key: readTaskKey(options['key']) },
  };
  if (options['dryRun'] === true) {
    await parseInput(systemClock, plan, wanted.input);
    output.note(`the input fits ${plan.name}@${plan.version}; nothing was enqueued`);
    return Exit.ok;
  }
  return withTracedTasks(context.config, plan, words, async (tasks, traced) => {
    const id = await traced((traceParent) =>
      tasks.enqueue(plan, wanted.input, { ...wanted.options, traceParent }),
    );
    if (options['wait'] !== true) {
      if (output.isJson) output.json({ task: id });
      else output.line(id);
      return Exit.ok;
    }
    output.note(`task ${id} enqueued`);
    return waitFor(tasks, id, timeoutMs, output);
  });
};

const FLAGS = { after: '--after', on: '--on', due: '--run-at', serialKey: '--serial-key' };

function wordsOf(options: Options, retentionMs: number, env: Io['env']): Words {
  const due = readDue(options['runAt']);
  const serialKey = readKey(options['serialKey'], '--serial-key');
  const { after, on } = options;
  return {
    keyMs: retentionMs,
    priority: readPriority(options['priority']),
    due,
    queue: readKey(options['queue'], '--queue'),
    serialKey,
    retriesMax: readRetriesMax(options['retriesMax']),
    follows: readFollows({ after, on, due, serialKey }, FLAGS),
    // As the conventions have it for a process that is started by one that traces.
    traceParent: readTraceParent(options['traceParent']) ?? inheritedTraceParent(env),
  };
}

/** What is enqueued in a span of its own, where traces are on: the tasks are linked to that. */
type Traced = <T>(act: (traceParent: string | undefined) => Promise<T>) => Promise<T>;

async function withTracedTasks<T>(
  config: Context['config'],
  plan: Plan,
  { traceParent }: Words,
  act: (tasks: Tasks, traced: Traced) => Promise<T>,
): Promise<T> {
  const tracing = await tracingBy(config);
  const traced: Traced = (enqueue) => enqueueTraced(tracing, plan.name, traceParent, enqueue);
  try {
    return await withTasks(config, (tasks) => act(tasks, traced));
  } finally {
    await tracing?.stop();
  }
}

async function planFor({ config }: Context, machine: string): Promise<Plan> {
  const { machines } = await loadMachines(config, config.cwd);
  refuseUnknown({ machines } as never, machine);
  return new Registry(machines).newest(machine);
}

/** Many, a batch at a time. What was enqueued before a failure stays, and is told. */
async function enqueueFile(
  context: Context,
  options: Options,
  plan: Plan,
  words: Words,
): Promise<ExitCode> {
  for (const name of ['input', 'key', 'wait', 'after'] as const) {
    if (options[name] === undefined) continue;
    throw new UsageError(`--${name} cannot be used with --file`, {
      hint: 'a line of the file is { "input": …, "key": "…" }; wait with: fleetq wait <task>',
    });
  }
  const file = String(options['file']);
  const isDry = options['dryRun'] === true;
  const { output, io } = context;
  const progress = new Progress(file, isDry ? 'checked' : 'enqueued', systemClock, io);
  let [count, known] = [0, 0];
  const lines = new Lines(file, words, io);
  const onBatch = ({ first, tasks }: ManyBatch) => {
    for (const [index, { id, isNew }] of tasks.entries()) {
      if (output.isJson) output.line(JSON.stringify({ line: first + index + 1, task: id, isNew }));
      else output.line(id);
      if (!isNew) known += 1;
    }
    count += tasks.length;
    progress.advance(count, lines.bytes);
  };
  const check = async () => {
    for await (const { input } of lines.read(undefined)) {
      await fitting(plan, input, count + 1);
      count += 1;
      progress.advance(count, lines.bytes);
    }
  };
  const send = (tasks: Tasks, traceParent?: string) =>
    enqueueMany(
      { tasks, clock: systemClock, random: systemRandom },
      plan,
      lines.read(traceParent),
      { batchMax: BATCH_COUNT, onBatch },
    );
  try {
    if (isDry) await check();
    else {
      await withTracedTasks(context.config, plan, words, (tasks, traced) =>
        traced((traceParent) => send(tasks, traceParent)),
      );
    }
  } catch (error) {
    progress.end();
    if (!isDry && count > 0) output.note(`${count} tasks had been enqueued before; they stay`);
    throw error instanceof BadItemError ? lineOf(error) : error;
  }
  progress.end();
  const there = known > 0 ? `, ${known} of them were there already` : '';
  const text = isDry ? 'lines fit; nothing was enqueued' : `tasks enqueued${there}`;
  output.note(`${count} ${text}${progress.rate()}`);
  return count > 0 ? Exit.ok : Exit.nothingFound;
}

/** A line is counted from 1. */
function lineOf({ index, cause }: BadItemError): Error {
  if (cause instanceof TaskKeyConflictError) return cause.onLine(index + 1);
  return new BadLineError(index + 1, cause);
}

async function fitting(plan: Plan, input: unknown, line: number): Promise<void> {
  try {
    await parseInput(systemClock, plan, input);
  } catch (cause) {
    throw new BadLineError(line, cause);
  }
}
