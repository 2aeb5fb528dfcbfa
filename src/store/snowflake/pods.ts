/** Pods in an account: what they say of themselves, how they are judged, and what leaders publish. */
import { BLOCKED_MS_MAX } from '../bounds.ts';
import * as rules from '../memory/pods.ts';
import * as throttleRules from '../memory/throttles.ts';
import type { Beat, BeatAnswer, JournalSeen, PodBirth, PodRow, Worklist } from '../pods.ts';
import type { Announcement, KnownRoute } from '../tasks.ts';
import type { ThrottleRow, ThrottleWord } from '../throttles.ts';
import type { PodId } from '../words.ts';
import type { Calls, Decide } from './calls.ts';
import { POD_HEALTH, STEP_TRACKER } from './columns.ts';
import {
  gather,
  gatherFact,
  gatherFacts,
  gatherFleet,
  gatherPods,
  type Reading,
} from './gather.ts';
import * as statements from './pods.sql.ts';

export async function register(calls: Calls, birth: PodBirth): Promise<JournalSeen> {
  const seen = await calls.change(
    (reading) => gather(reading, POD_HEALTH, statements.selectLives, [birth.pod, birth.journal]),
    (tables) => rules.register(tables, birth),
    { isSure: true },
  );
  // Whoever is not woken now looks again by itself, a little later.
  await calls.changeEach(
    (reading) =>
      gather(reading, STEP_TRACKER, statements.selectBlocked, [
        JSON.stringify(birth.routes),
        BLOCKED_MS_MAX,
      ]),
    (tables) => rules.wakeBlocked(tables, birth.routes),
  );
  return seen;
}

export function beat(calls: Calls, given: Beat): Promise<BeatAnswer> {
  const { pod } = given;
  return calls.change(
    async (reading) => {
      await gather(reading, POD_HEALTH, statements.selectFleet, [pod]);
      await gather(reading, STEP_TRACKER, statements.selectAsked, [pod]);
      await gatherFacts(reading, 'throttle');
    },
    (tables) => rules.beat(tables, given),
    { isDoubtful: ({ kind }) => kind === 'refused' },
  );
}

/** One pod's row, changed by itself. */
function ofPod(calls: Calls, pod: PodId, decide: Decide<boolean>): Promise<boolean> {
  return calls.change((reading) => gatherPods(reading, [pod]), decide, { isDoubtful: isNot });
}

function isNot(is: boolean): boolean {
  return !is;
}

export function markDraining(calls: Calls, pod: PodId): Promise<boolean> {
  return ofPod(calls, pod, (tables) => rules.markDraining(tables, pod));
}

export function requestDrain(calls: Calls, pod: PodId): Promise<boolean> {
  return ofPod(calls, pod, (tables) => rules.requestDrain(tables, pod));
}

/** Stands only if the row is as it was judged: a heartbeat in between has written it. */
export function fence(
  calls: Calls,
  pod: PodId,
  by: PodId,
  because: { readonly silentMs: number } | 'proved',
): Promise<boolean> {
  return ofPod(calls, pod, (tables) => rules.fence(tables, pod, by, because));
}

export function retire(calls: Calls, pod: PodId): Promise<boolean> {
  return calls.change(
    async (reading) => {
      await gatherPods(reading, [pod]);
      await gather(reading, STEP_TRACKER, statements.selectOneHeld, [pod]);
    },
    (tables) => rules.retire(tables, pod),
    { isDoubtful: isNot },
  );
}

export function beginTerm(calls: Calls, pod: PodId, term: number): Promise<void> {
  return calls.change(
    async (reading) => {
      await gatherPods(reading, [pod]);
      await gatherFact(reading, 'term', `${pod} ${term}`);
    },
    (tables) => rules.beginTerm(tables, pod, term),
  );
}

export async function gatherPodRows(reading: Reading): Promise<void> {
  await gatherFleet(reading, true);
  await gather(reading, STEP_TRACKER, statements.selectClaims, []);
}

export function pods(calls: Calls): Promise<PodRow[]> {
  return calls.look(gatherPodRows, rules.pods);
}

export function worklist(calls: Calls, silentMs: number): Promise<Worklist> {
  return calls.look(
    async (reading) => {
      await gatherFleet(reading);
      await gather(reading, STEP_TRACKER, statements.selectOwners, []);
    },
    (tables) => rules.worklist(tables, silentMs),
  );
}

export function announce(calls: Calls, routes: readonly Announcement[]): Promise<Announcement[]> {
  return calls.change(
    (reading) => gatherFacts(reading, 'route'),
    (tables) => rules.announce(tables, routes),
  );
}

export function abandoned(calls: Calls, machines: readonly string[]): Promise<string[]> {
  return calls.look(
    async (reading) => {
      await gatherFleet(reading);
      await gatherFacts(reading, 'route');
    },
    (tables) => rules.abandoned(tables, machines),
  );
}

export function known(calls: Calls): Promise<KnownRoute[]> {
  return calls.look((reading) => gatherFacts(reading, 'route'), rules.known);
}

/** A word that somebody was faster than is not said again: whoever leads says the next one. */
export async function publishThrottles(
  calls: Calls,
  words: readonly ThrottleWord[],
): Promise<void> {
  await calls.changeEach(
    (reading) => gatherFacts(reading, 'throttle'),
    (tables) => throttleRules.publishThrottles(tables, words),
  );
}

export function throttles(calls: Calls): Promise<ThrottleRow[]> {
  return calls.look((reading) => gatherFacts(reading, 'throttle'), throttleRules.throttles);
}
