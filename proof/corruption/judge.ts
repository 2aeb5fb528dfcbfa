/**
 * Whether what a damaged image answers is allowed. The truth may be missing, if that is said; it may
 * never be replaced by something else, and what is not reported as damaged must be as it was.
 */
import type { RunFacts, State } from './state.ts';

export type Verdict = 'identical' | 'prefixWithAlarm' | 'quarantined' | 'putAside' | 'silent';

export interface Judgement {
  readonly verdict: Verdict;
  /** What is wrong, for a silent one. */
  readonly why: string;
}

/** With `isOneBit` one bit of the database file is damaged: that is no excuse for losing every run. */
export function judge(truth: State, seen: State, isOneBit = false): Judgement {
  // A damaged mark alone is no excuse: it has nothing to do with the runs.
  const isAlarmed = seen.alarms.some((kind) => kind !== 'markDamaged');
  const lies = isAlarmed ? liesUnderAlarm(truth, seen) : differences(truth, seen);
  const isEmpty = [...seen.runs.values()].every((run) => run.row === undefined);
  if (isOneBit && isEmpty) lies.push('every run is gone');
  if (lies.length > 0) return { verdict: 'silent', why: lies.slice(0, 3).join('; ') };
  const verdict = seen.alarms.includes('fileDamaged')
    ? 'putAside'
    : isAlarmed
      ? 'prefixWithAlarm'
      : [...seen.runs.values()].some((run) => run.isDamaged)
        ? 'quarantined'
        : 'identical';
  return { verdict, why: '' };
}

/** Without an alarm everything is as it was, but for runs that are reported as damaged. */
function differences(truth: State, seen: State): string[] {
  const wrong: string[] = [];
  const say = (isWrong: boolean, what: string) => isWrong && wrong.push(what);
  say(seen.id !== truth.id, 'another journal id');
  say(seen.boot !== truth.boot, `boot ${seen.boot}, was ${truth.boot}`);
  say(seen.evidence !== truth.evidence && seen.evidence !== 'unknown', 'other evidence');
  const damaged = new Set<string>();
  for (const [id, facts] of seen.runs) {
    if (facts.isDamaged || facts.atBoot === 'damaged') damaged.add(id);
    else say(!sameFacts(truth.runs.get(id), facts), `run ${id} differs`);
  }
  for (const id of truth.runs.keys()) say(!seen.runs.has(id), `run ${id} is gone`);
  for (const [key, id] of truth.keys) {
    const found = seen.keys.get(key);
    // A damaged run may say so by its key too, but its key never leads elsewhere.
    say(found !== id && !(found === 'damaged' && damaged.has(id)), `key ${key} finds ${found}`);
  }
  say(seen.timers.join() !== truth.timers.join(), `timers ${seen.timers}`);
  for (const letter of seen.deadLetters) {
    say(!truth.deadLetters.includes(letter), `dead letter ${letter}`);
  }
  for (const letter of truth.deadLetters) {
    const isThere = seen.deadLetters.includes(letter) || isOf(letter, damaged);
    say(!isThere, `no dead letter ${letter}`);
  }
  return wrong;
}

/** Under an alarm there may be less, but nothing that never was. */
function liesUnderAlarm(truth: State, seen: State): string[] {
  const wrong: string[] = [];
  const say = (isWrong: boolean, what: string) => isWrong && wrong.push(what);
  for (const [id, facts] of seen.runs) {
    const was = truth.runs.get(id);
    if (facts.isDamaged || facts.row === undefined) continue;
    say(was === undefined, `run ${id} never was`);
    if (was === undefined) continue;
    const isPrefix = facts.hashes.every((hash, index) => was.everHashes[index] === hash);
    say(!isPrefix, `run ${id} has records that never were`);
    say(facts.row !== was.row && facts.row !== was.liveRow, `run ${id} has a row that never was`);
  }
  for (const [key, found] of seen.keys) {
    const isLess = found === 'none' || found === 'damaged';
    say(!isLess && found !== truth.keys.get(key), `key ${key} finds ${found}`);
  }
  for (const timer of seen.timers) say(!truth.everTimers.includes(timer), `timer ${timer}`);
  for (const letter of seen.deadLetters) {
    say(!truth.deadLetters.includes(letter), `dead letter ${letter}`);
  }
  return wrong;
}

function sameFacts(was: RunFacts | undefined, is: RunFacts): boolean {
  return (
    was !== undefined &&
    was.row === is.row &&
    was.isListed === is.isListed &&
    was.atBoot === is.atBoot &&
    was.hashes.join() === is.hashes.join()
  );
}

function isOf(letter: string, runs: ReadonlySet<string>): boolean {
  return runs.has((JSON.parse(letter) as { run: string }).run);
}
