/**
 * fleetq fork <run> --from main.work [--input json] [--set a.b=1]: a new task that begins with the
 * records of another one, up to a phase, and goes on from there with the same input or another.
 */
import { forkOf, inputOf, prefixTo, TaskNotFoundError } from '../../fleet/index.ts';
import { type Json, type RunId, runIdMint, systemClock, systemRandom } from '../../ground/index.ts';
import { parseInput, planOf } from '../../machine/index.ts';
import type { TaskRow } from '../../store/index.ts';
import type { Context, Execute, Options } from '../command.ts';
import { UsageError } from '../errors.ts';
import { readInput } from '../input.ts';
import type { Io } from '../io.ts';
import { loadMachinesIfAny } from '../machines.ts';
import { idOf } from '../runs.ts';
import { actOn, sayAct } from './acting.ts';
import { recordsOf } from './history.ts';
import { codecFor, withStore } from './open.ts';

export const fork: Execute = async (context, options, run) => {
  idOf(run, 'the argument');
  const from = options['from'];
  if (typeof from !== 'string') throw new UsageError("--from is missing: a phase like 'main.work'");
  const codec = codecFor(context.config);
  return withStore(context.config, async (store) => {
    const [row] = await store.find([run as RunId]);
    if (!row) throw new TaskNotFoundError(run!);
    const { id: task, generation } = row;
    const source = { task, generation, records: await recordsOf(store, row, -1, codec) };
    const input = await inputBy(options, inputOf(prefixTo(source, from)), context.io);
    if (input !== undefined) await checkInput(context, row, input);
    const as = runIdMint(systemClock, systemRandom)();
    const deed = forkOf(source, { as, from, input, codec });
    const acted = await actOn(store, task, deed, options);
    const made = 'made' in acted.answer ? acted.answer.made : undefined;
    const done = `forked at ${from}: ${made}`;
    return sayAct(context.output, task, deed, acted, { done, requested: done, already: done });
  });
};

/** Undefined where it stays as it was. */
async function inputBy(options: Options, before: Json, io: Io): Promise<Json | undefined> {
  const sets = (options['set'] ?? []) as unknown as readonly string[];
  const given = options['input'];
  if (given === undefined && sets.length === 0) return undefined;
  const input = given === undefined ? before : ((await readInput(String(given), io)) as Json);
  return sets.reduce(withSet, input);
}

const SETTING = /^([^=]+)=(.*)$/s;
const FORBIDDEN: readonly string[] = ['__proto__', 'constructor', 'prototype'];

/** `a.b=1`: the value is JSON, or else text as it stands. */
function withSet(input: Json, setting: string): Json {
  const [, path, text] = SETTING.exec(setting) ?? [];
  const names = path?.split('.') ?? [];
  if (path === undefined || text === undefined || names.some((name) => FORBIDDEN.includes(name))) {
    throw new UsageError(`--set must be like a.b=1, got ${setting}`);
  }
  return withValue(input, names, valueOfText(text));
}

function valueOfText(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}

function withValue(at: Json, [name, ...rest]: readonly string[], value: Json): Json {
  if (name === undefined) return value;
  if (Array.isArray(at)) {
    if (!/^\d{1,6}$/.test(name) || Number(name) > at.length) {
      throw new UsageError(`--set names ${name} of a list that has ${at.length}`);
    }
    const index = Number(name);
    return at.toSpliced(index, 1, withValue(at[index] ?? null, rest, value));
  }
  const object = Object(at ?? {}) as Record<string, Json>;
  return { ...object, [name]: withValue(object[name] ?? null, rest, value) };
}

/** By the schema of its machine, where that is here. */
async function checkInput({ config, output }: Context, row: TaskRow, input: Json): Promise<void> {
  const { machines } = await loadMachinesIfAny(config, config.cwd);
  const plan = machines
    .map((machine) => planOf(machine))
    .find((found) => found?.name === row.machine && found.version === row.version);
  if (plan) await parseInput(systemClock, plan, input);
  else output.note(`no ${row.machine}@${row.version} is here: its input is not checked`);
}
