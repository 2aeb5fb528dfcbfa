/** Bugs in what pods have of an API before they are counted, and in what they ask for. */
import { type Mutant, tests } from './mutant.ts';

export const THROTTLE_SHARES: readonly Mutant[] = [
  {
    name: 'alone-among-the-unheard',
    breaks: 'a pod that begins takes all, though others are in the table that may still call',
    changes: [
      {
        file: 'src/throttle/fleet/fleet-shares.ts',
        find: 'followsOthers: this.#areUnheard || isRecent(published, nowMs),',
        put: 'followsOthers: isRecent(published, nowMs),',
      },
    ],
    command: tests('test/throttle/shared-apis.test.ts', 'leaves half'),
    shows: /leaves half of all to those in the table whom nobody hears/,
  },
  {
    name: 'alone-on-a-lost-table',
    breaks: 'a process that begins another life believes an empty table that it is alone',
    changes: [
      {
        file: 'src/throttle/fleet/fleet-shares.ts',
        find: 'return Math.max(this.#podCount, this.#lately.podCount);',
        put: 'return this.#podCount;',
      },
    ],
    command: tests('test/throttle/shared-apis.test.ts', 'lost the others'),
    shows: /does not take itself for the only one in a table that has lost the others/,
  },
  {
    name: 'debt-by-the-portion',
    breaks: 'what one call cost stops others for longer, the less of the rate the pod has by then',
    changes: [
      {
        file: 'src/throttle/permits/declared-rates.ts',
        find: 'if (nowMs - this.#chargedMs >= DEBT_MS_MAX) this.#costs.forgive();',
        put: 'if (nowMs - this.#chargedMs >= 1e12) this.#costs.forgive();',
      },
    ],
    command: tests('test/throttle/declared-rates.test.ts', 'less of the rate is left'),
    shows: /for ten minutes at most, also where less of the rate is left/,
  },
  {
    name: 'debt-is-no-demand',
    breaks:
      'a pod that owes what a call has cost is given as little of the rate as one that is idle',
    changes: [
      {
        file: 'src/throttle/fleet/rates.ts',
        find: 'const { waiting, sent, seconds, podCount, owed = 0 } = wanting;',
        put: 'const { waiting, sent, seconds, podCount, owed: _ = 0 } = wanting;\n  const owed = 0;',
      },
    ],
    command: tests('test/throttle/idle-pods.test.ts', 'what it could use'),
    shows: /a pod wants what it could use/,
  },
  {
    name: 'backlog-remembered',
    breaks: 'a backlog that is gone keeps a share, the longer the more there was of it',
    changes: [
      {
        file: 'src/throttle/fleet/demand.ts',
        find: 'const used = Math.min(lastDemand, inFlight + Math.max(1, share));',
        put: 'const used = Math.min(lastDemand, 1e9 * (inFlight + Math.max(1, share)));',
      },
    ],
    command: tests('test/throttle/demand.test.ts'),
    shows: /as far as it could be used/,
  },
  {
    name: 'slow-rate-holds-all',
    breaks: 'runs of a slow rate at the head of the queue hold back all others of their machine',
    changes: [
      {
        file: 'src/throttle/permits/wanting.ts',
        find: 'return sinceMs < TRIAL_MS && Math.max(askedForMs, ratedMs(throttle, nowMs)) > 0;',
        put: 'return Math.max(askedForMs, ratedMs(throttle, nowMs)) > 0;',
      },
    ],
    command: tests('test/fleet/throttle-apis.test.ts', 'a slow rate'),
    shows: /runs of a slow rate at the head of the queue do not keep those behind them/,
  },
  {
    name: 'used-up-is-asked-again',
    breaks: 'an API whose quota is used up when a process begins is asked again and again',
    changes: [
      {
        file: 'src/throttle/permits/pause.ts',
        find: "const isUsedUp = !this.isKnown && kind === 'throttled' && hint?.remaining === 0;",
        put: "const isUsedUp = !this.isKnown && kind === 'timeout' && hint?.remaining === 0;",
      },
    ],
    command: tests('test/throttle/pause.test.ts'),
    shows: /only that nothing is left is waited out/,
  },
  {
    name: 'learned-without-being-asked',
    breaks: 'a declared limit is cut by refusals that say nothing of the load',
    changes: [
      {
        file: 'src/throttle/throttle.ts',
        find: 'if (!policy.isAdaptive || isShared',
        put: 'if (isShared',
      },
      {
        file: 'src/throttle/estimate/estimator.ts',
        find: "if (!this.#rule.isAdaptive) return 'hold';",
        put: '',
      },
    ],
    command: tests('test/throttle/adaptive.test.ts', 'refused by chance'),
    shows: /takes nothing from a declared limit/,
  },
  {
    name: 'lone-caller-waits-for-a-share',
    breaks: 'the only caller waits for a permit that pods without demand have',
    changes: [
      {
        file: 'src/throttle/fleet/idle-share.ts',
        find: '&& !isBound ? 1 : 0;',
        put: '&& !isBound ? 0 : 0;',
      },
    ],
    command: tests('test/throttle/adaptive.test.ts', 'found in a storm'),
    shows: /a lone caller among pods without demand has a permit at once/,
  },
];
