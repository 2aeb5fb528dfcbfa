/** Reads the `steps` of a definition: the line of a machine that has more than one step. */
import { show } from '../ground/index.ts';
import { PHASES } from './chart.ts';
import { DefinitionError } from './errors.ts';
import type { SleepPlan, StepPlan } from './plan.ts';
import { Reader } from './reader.ts';
import { readRules, readSleep, readStep, STEP_PROPERTIES } from './step-reader.ts';

const STEP_COUNT_MAX = 1_000;

/**
 * Runs the author's `steps` callback over a line that only takes notes. Each call gives a line of its
 * own, as the types have it, and only the newest may go on or be returned: a line has no branches.
 */
export function readLine(reader: Reader): (StepPlan | SleepPlan)[] {
  const steps = reader.get('steps');
  if (typeof steps !== 'function') {
    throw reader.fault('steps', 'a function (line) => line.step(…)', steps);
  }
  const parts: (StepPlan | SleepPlan)[] = [];
  const rules = readRules(reader, [...PHASES, 'run']);
  const extend = (): object => {
    const line = Object.freeze({
      step: (name: unknown, step: unknown) =>
        take(line, name, (stepName) => {
          if (typeof step !== 'object' || step === null) {
            throw reader.fault(`steps.${stepName}`, 'an object with check and work', step);
          }
          const ofStep = new Reader(reader.machine, step, `steps.${stepName}`);
          ofStep.allowOnly([...STEP_PROPERTIES, 'retry', 'timeout', 'flush']);
          return readStep(ofStep, stepName, rules);
        }),
      sleep: (name: unknown, delay: unknown) =>
        take(line, name, (stepName) => readSleep(reader, stepName, delay)),
    });
    return line;
  };
  let newest: object | undefined = extend();
  const take = (line: object, name: unknown, read: (name: string) => StepPlan | SleepPlan) => {
    if (line !== newest) {
      const got = newest ? 'a second one from the same place' : 'one after the definition';
      throw reader.faultOf('steps', 'one chain of calls', `${got}, for ${show(name)}`);
    }
    parts.push(read(readStepName(reader, name, parts)));
    newest = extend();
    return newest;
  };
  const answer = callSteps(reader, () => steps(newest));
  if (answer !== newest) {
    throw reader.fault('steps', 'a function that returns what its last call gave', answer);
  }
  newest = undefined;
  if (!parts.some((part) => part.kind === 'step')) {
    throw reader.faultOf('steps', 'a line with at least one step', `${parts.length} sleeps only`);
  }
  return parts;
}

function callSteps(reader: Reader, call: () => unknown): unknown {
  try {
    return call();
  } catch (thrown) {
    if (thrown instanceof DefinitionError) throw thrown;
    const got = `one that threw ${show(thrown)}`;
    throw reader.faultOf('steps', 'a function (line) => line.step(…)', got, { cause: thrown });
  }
}

function readStepName(reader: Reader, name: unknown, parts: readonly { name: string }[]): string {
  if (typeof name !== 'string' || !/^[a-z][a-z0-9_-]{0,63}$/i.test(name)) {
    throw reader.fault(
      `steps[${parts.length}]`,
      "named by up to 64 letters, digits, '-' and '_', begun by a letter",
      name,
    );
  }
  // Outputs are kept by name in an object, where 'constructor' would be found before it is set.
  if (name in {}) {
    throw reader.fault(`steps[${parts.length}]`, 'named unlike what every object has', name);
  }
  if (parts.some((part) => part.name === name)) {
    throw reader.faultOf(`steps.${name}`, 'the only step of its name', 'another one before it');
  }
  if (parts.length >= STEP_COUNT_MAX) {
    throw reader.faultOf('steps', `a line of at most ${STEP_COUNT_MAX} steps`, 'one more');
  }
  return name;
}
