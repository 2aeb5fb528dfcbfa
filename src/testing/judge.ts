/**
 * What must hold of a case, told from the outside ledger and compared with the run that was not
 * killed. The contract allows one repeat: the phase that was cut off between its effect and its record
 * is called once more, with the same key, unless `check` sees that it was done. Everything else is a
 * fault. Pure: evidence in, faults out.
 */
import { isDeepStrictEqual } from 'node:util';
import { type Json, show } from '../ground/index.ts';
import { type Call, type Ended, type KillPoint, type Line, linesAt } from './case-ledger.ts';
import { type Death, toldEnd } from './crash-process.ts';
import { isHandedOffByProbe, matchCalls, nameOf, strayed, wrongKeys } from './judge-calls.ts';
import type { CrashFault, FaultKind } from './report.ts';

export interface Evidence {
  readonly name: string;
  readonly directory: string;
  readonly point: KillPoint;
  /** How the process that was to die ended; its successor may not have been started. */
  readonly first: Death;
  readonly second: Death | undefined;
  readonly lines: readonly Line[];
}
export interface Smooth {
  readonly ended: Ended;
  readonly lines: readonly Line[];
  readonly directory: string;
}
export interface Verdict {
  readonly isKilled: boolean;
  readonly faults: readonly CrashFault[];
  /** Calls of phases that were cut off and came again; see the report. */
  readonly again: number;
  /** Which one it was. */
  readonly calledAgain?: Call | undefined;
  readonly handedOff: number;
}

export function judge(
  evidence: Evidence,
  smooth: Smooth,
  comparable: (output: unknown) => unknown,
): Verdict {
  const { name, lines } = evidence;
  const faults: CrashFault[] = [];
  const blame = (kind: FaultKind, message: string) => faults.push({ case: name, kind, message });
  const why = whyVoid(evidence);
  if (why !== undefined) {
    blame('void', why);
    return { isKilled: false, faults, again: 0, handedOff: 0 };
  }
  const ended = endedIn(lines, 2);
  if (!ended?.outcome) {
    blame('unended', whyUnended(evidence, ended));
    return { isKilled: true, faults, again: 0, handedOff: 0 };
  }
  for (const message of whatIsLost(lines, ended)) blame('lost', message);
  const calls = linesAt(lines, 'entered').filter(({ run }) => run === ended.run);
  const matched = matchCalls(lines, calls, ended);
  for (const message of matched.lost) blame('lost', message);
  for (const message of matched.repeated) blame('repeated', message);
  for (const { kind, message } of strayed(ended)) blame(kind, message);
  for (const message of wrongKeys(calls)) blame('key', message);
  const { cutOff } = matched;
  const isHandedOff = cutOff !== undefined && isHandedOffByProbe(cutOff, ended.records);
  const wanted = smooth.ended.outcome;
  const isSame = ended.outcome === wanted;
  // A last step that was cut off and found done ends the run as handed off: that is as good.
  if (!isSame && !(isHandedOff && wanted === 'completed' && ended.outcome === 'handedOff'))
    blame('outcome', whyOutcome(ended, smooth.ended));
  else if (!sameOutputs(evidence, ended, smooth, comparable))
    blame('output', `${show(ended.output)}, and without a crash ${show(smooth.ended.output)}`);
  const isAgain = cutOff !== undefined && cameAgain(calls, cutOff);
  return {
    isKilled: true,
    faults,
    again: isAgain ? 1 : 0,
    calledAgain: isAgain ? cutOff : undefined,
    handedOff: isHandedOff && !isAgain ? 1 : 0,
  };
}

export function endedIn(lines: readonly Line[], process: number): Ended | undefined {
  return linesAt(lines, 'ended').find((line) => line.process === process);
}

/** A case counts only if the process died by SIGKILL, at its record, with what came before durable. */
export function whyVoid({
  point,
  first,
  lines,
}: Pick<Evidence, 'point' | 'first' | 'lines'>): string | undefined {
  const { when, nth } = point;
  const own = lines.filter(({ process }) => process === 1);
  const failed = linesAt(own, 'failed')[0];
  if (failed) return `the process failed before it: ${failed.error.message}`;
  if (first.isLate || first.signal !== 'SIGKILL') {
    const count = linesAt(own, 'recorded').length;
    return `it did not come to the record, only to ${count}: ${toldEnd(first)}`;
  }
  const last = own.at(-1);
  if (last?.at !== 'dying' || last.nth !== nth || last.when !== when)
    return `somebody else killed the process: ${toldEnd(first)}`;
  const durable = linesAt(own, 'recorded').length;
  const wanted = when === 'after' ? nth : nth - 1;
  return durable === wanted ? undefined : `${durable} records were durable, wanted ${wanted}`;
}

function whyUnended({ second, lines }: Evidence, ended: Ended | undefined): string {
  const failed = linesAt(lines, 'failed').find(({ process }) => process === 2);
  if (ended) return `the run is ${ended.status}${ended.reason ? `: ${ended.reason}` : ''}`;
  if (failed) return `the next process failed: ${failed.error.message}`;
  return second ? `in the next process: ${toldEnd(second)}` : 'there was no next process';
}

/** What the dead process saw become durable is the beginning of what its successor read. */
function whatIsLost(lines: readonly Line[], ended: Ended): string[] {
  const durable = linesAt(lines, 'recorded').filter(({ process }) => process === 1);
  if (durable.length === 0) return [];
  if (!ended.found.includes(ended.run))
    return ['the run was recorded, and the next process had none'];
  return durable
    .filter(({ event, state }, index) => {
      const told = ended.records[index];
      return told?.seq !== index || told.event !== event || told.state !== state;
    })
    .map(({ nth, event, state }) => `record ${nth} (${event} to ${state}) was durable and is gone`);
}

function whyOutcome(ended: Ended, smooth: Ended): string {
  const because = ended.error?.message ?? ended.reason;
  const why = because === undefined ? '' : ` (${because})`;
  return `${ended.outcome}${why}, and without a crash ${smooth.outcome}`;
}

/** Run ids, keys and directories differ from case to case, and may well be part of an output. */
function sameOutputs(
  { directory, lines }: Evidence,
  ended: Ended,
  smooth: Smooth,
  comparable: (output: unknown) => unknown,
): boolean {
  return isDeepStrictEqual(
    comparable(plain(ended, lines, directory)),
    comparable(plain(smooth.ended, smooth.lines, smooth.directory)),
  );
}

function plain(
  { output, run }: Ended,
  lines: readonly Line[],
  directory: string,
): Json | undefined {
  if (output === undefined) return undefined;
  const named = new Map([[directory, '<directory>']]);
  for (const call of linesAt(lines, 'entered')) {
    named.set(call.idempotencyKey, `<key of ${nameOf(call)}>`);
    named.set(call.run, '<run>');
  }
  named.set(run, '<run>');
  const text = [...named].reduce(
    (before, [value, name]) => before.replaceAll(JSON.stringify(value).slice(1, -1), name),
    JSON.stringify(output),
  );
  return JSON.parse(text) as Json;
}

function cameAgain(calls: readonly (Call & { process: number })[], cutOff: Call): boolean {
  return calls.some((call) => call.process === 2 && nameOf(call) === nameOf(cutOff));
}
