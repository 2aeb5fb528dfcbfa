/** fleetq enqueue <machine> --input json | --file many.jsonl: gives tasks to the fleet. */
import { refuseUnknown } from '../../admin/index.ts';
import { TaskKeyConflictError } from '../../fleet/index.ts';
import type { Tasks } from '../../fleet/tasks.ts';
import { parseDuration, type RunId, systemClock } from '../../ground/index.ts';
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
  readTraceParent,
  readWait,
} from '../input.ts';
import { loadMachines } from '../machines.ts';
import { BadLineError, batchesOf, type Wanted, type Words } from './jsonl.ts';
import { withTasks } from './open.ts';
import { Progress } from './progress.ts';
import { waitFor } from './wait.ts';

export const enqueue: Execute = async (context, options, machine) => {
  const timeoutMs = readWait(options);
  const words = wordsOf(options, parseDuration(context.config.retention) ?? 0);
  const plan = await planFor(context, machine!);
  if (options['file'] !== undefined) return enqueueFile(context, options, plan, words);
  const wanted: Wanted = {
    input: await readInput(String(options['input'] ?? 'null')),
    options: { ...words, key: readKey(options['key']) },
  };
  const { output } = context;
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

function wordsOf(options: Options, retentionMs: number): Words {
  return {
    keyMs: retentionMs,
    priority: readPriority(options['priority']),
    due: readDue(options['runAt']),
    queue: readKey(options['queue'], '--queue'),
    serialKey: readKey(options['serialKey'], '--serial-key'),
    // As the conventions have it for a process that is started by one that traces.
    traceParent: readTraceParent(options['traceParent']) ?? inheritedTraceParent(process.env),
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
  const { machines } = await loadMachines(config, process.cwd());
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
  for (const name of ['input', 'key', 'wait'] as const) {
    if (options[name] === undefined) continue;
    throw new UsageError(`--${name} cannot be used with --file`, {
      hint: 'a line of the file is { "input": …, "key": "…" }; wait with: fleetq wait <task>',
    });
  }
  const file = String(options['file']);
  const isDry = options['dryRun'] === true;
  const progress = new Progress(file, isDry ? 'checked' : 'enqueued', systemClock);
  const { output } = context;
  let count = 0;
  const pass = async (tasks: Tasks | undefined, traceParent?: string) => {
    for await (const { lines, bytes } of batchesOf(file, { ...words, traceParent })) {
      const first = count + 1;
      const ids = await send(plan, lines, first, tasks);
      for (const [index, id] of ids.entries()) {
        if (output.isJson) output.line(JSON.stringify({ line: first + index, task: id }));
        else output.line(id);
      }
      count += lines.length;
      progress.advance(count, bytes);
    }
  };
  try {
    if (isDry) await pass(undefined);
    else {
      await withTracedTasks(context.config, plan, words, (tasks, traced) =>
        traced((traceParent) => pass(tasks, traceParent)),
      );
    }
  } catch (error) {
    progress.end();
    if (!isDry && count > 0) output.note(`${count} tasks had been enqueued before; they stay`);
    throw error;
  }
  progress.end();
  const text = isDry ? 'lines fit; nothing was enqueued' : 'tasks enqueued';
  output.note(`${count} ${text}${progress.rate()}`);
  return count > 0 ? Exit.ok : Exit.nothingFound;
}

/** One batch; where it is refused for what a line says, that line is named. */
async function send(
  plan: Plan,
  lines: readonly Wanted[],
  first: number,
  tasks: Tasks | undefined,
): Promise<RunId[]> {
  try {
    if (tasks) return await tasks.enqueueMany(plan, lines);
  } catch (error) {
    if (error instanceof TaskKeyConflictError) throw error.onLine(first + error.conflict.index);
    await nameLine(plan, lines, first);
    throw error;
  }
  await nameLine(plan, lines, first);
  return [];
}

async function nameLine(plan: Plan, lines: readonly Wanted[], first: number): Promise<void> {
  for (const [index, { input }] of lines.entries()) {
    try {
      await parseInput(systemClock, plan, input);
    } catch (cause) {
      throw new BadLineError(first + index, cause);
    }
  }
}
