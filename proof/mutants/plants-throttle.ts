/** Bugs in how it is found out what an API takes, and how pods come to have their shares of that. */
import { type Mutant, tests } from './mutant.ts';

export const THROTTLE: readonly Mutant[] = [
  {
    name: 'newcomers-call-at-once',
    breaks: 'each of many pods that join at once has a call out before it knows of the others',
    changes: [
      {
        file: 'src/throttle/fleet/first-share.ts',
        find: 'if (heardCount === 0) return 0;',
        put: 'if (heardCount === 0) return 1;',
      },
    ],
    command: tests('test/throttle/shared-apis.test.ts', 'joins'),
    shows: /calls nothing before its first heartbeat is answered/,
  },
  {
    name: 'share-by-another-report',
    breaks: 'a pod finds its share by what it told last, and not by what was counted',
    changes: [
      {
        file: 'src/throttle/fleet/told-list.ts',
        find: 'if (counted.has(tokenOf(hash, mark)))',
        put: 'if (counted.size > 0 || counted.has(tokenOf(hash, mark)))',
      },
    ],
    command: tests('test/throttle/slow-store.test.ts'),
    shows: /nobody is given what another has/,
  },
  {
    name: 'words-that-were-missed-unheeded',
    breaks: 'less by a word that a pod never heard was given on, and is used by both',
    changes: [
      {
        file: 'src/throttle/fleet/lease.ts',
        find: 'this.#heedSkipped(published, formerEpoch);',
        put: '',
      },
    ],
    command: tests('test/throttle/estimator.test.ts', 'never heard'),
    shows: /what a pod lost by a word that it never heard is not its own/,
  },
  {
    name: 'api-that-refuses-all-taken-for-full',
    breaks: 'what an API refuses during an incident is taken for more than it has room for',
    changes: [
      {
        file: 'src/throttle/estimate/let-in.ts',
        find: 'return isKnown || isMostly || letInMs(seconds).some((ms) => ms < lastMs);',
        put: 'return isKnown || isMostly || lastMs > 0;',
      },
    ],
    command: tests('test/throttle/shut.test.ts'),
    shows: /a second that let in most of its calls tells of an edge/,
  },
  {
    name: 'parked-runs-without-turns',
    breaks:
      'runs that are parked at a slow rate come back at one time, and the turns after it are lost',
    changes: [
      {
        file: 'src/throttle/permits/parking.ts',
        find: 'const turnMs = Math.max(nowMs, this.#turnMs);',
        put: 'const turnMs = nowMs;',
      },
    ],
    command: tests('test/throttle/rated-claims.test.ts', 'turns'),
    shows: /come back for turns of which none is lost/,
  },
  {
    name: 'prober-for-ever',
    breaks: 'an API that one pod cannot reach is asked by that pod again and again',
    changes: [
      {
        file: 'src/throttle/fleet/fleet-breaker.ts',
        find: 'return this.#turn;',
        put: 'return 0;',
      },
    ],
    command: tests('test/throttle/prober.test.ts'),
    shows: /another pod finds out where the first one fails/,
  },
  {
    name: 'part-of-a-permit-is-one',
    breaks: 'less than one permit, as a person has fixed it, is used as one',
    changes: [
      {
        file: 'src/throttle/fleet/lease.ts',
        find: 'const granted = share * this.#part;',
        put: 'const granted = share;',
      },
    ],
    command: tests('test/throttle/less-than-one.test.ts', 'fixed'),
    shows: /of a permit, as a person has fixed it, is not one/,
  },
  {
    name: 'ceiling-of-the-leader-alone',
    breaks: 'what a pod declares does not hold where whoever leads declares nothing',
    changes: [
      {
        file: 'src/throttle/ceilings.ts',
        find: 'if (told.ceiling !== undefined) ceiling =',
        put: 'if (told.ceiling !== undefined && told.ceiling < 0) ceiling =',
      },
    ],
    command: tests('test/throttle/chief.test.ts', 'declares'),
    shows: /what a pod declares holds where whoever leads knows nothing of it/,
  },
  {
    name: 'falls-forgotten',
    breaks: 'what went well before an API took much less is forgotten with the fall',
    changes: [
      {
        file: 'src/throttle/estimate/before-falls.ts',
        find: 'if (cap < DEEP_SHARE * from.cap) this.#isDeep = true;',
        put: 'if (cap < DEEP_SHARE * from.cap) this.#isDeep = false;',
      },
    ],
    command: tests('test/throttle/falls.test.ts'),
    shows: /as before soon after a minute/,
  },
  {
    name: 'tokens-left-unread',
    breaks: 'what an API has left in tokens is not gone by',
    changes: [
      {
        file: 'src/throttle/permits/told-room.ts',
        find: 'if (this.#isLasting(costHint)) this.#costs.note(costHint, nowMs);',
        put: '',
      },
    ],
    command: tests('test/throttle/token-headers.test.ts', 'nearly all'),
    shows: /is used to nearly all of it/,
  },
  {
    name: 'headers-believed-for-ever',
    breaks: 'an API that says it has room and refuses is believed again at once',
    changes: [
      {
        file: 'src/throttle/estimate/hints.ts',
        find: 'this.#doubtedMs = nowMs;',
        put: '',
      },
    ],
    command: tests('test/throttle/hints.test.ts', 'doubted'),
    shows: /is doubted for ten minutes/,
  },
  {
    name: 'refused-permits-free-at-once',
    breaks:
      'a refused call gives its permit back at once, and the next one is refused in milliseconds',
    changes: [
      {
        file: 'src/throttle/permits/permit-pool.ts',
        find: 'if (coolUntilMs > nowMs) this.#cooling.push(coolUntilMs);',
        put: '',
      },
    ],
    command: tests('test/throttle/permit-pool.test.ts'),
    shows: /a refused call keeps its permit/,
  },
  {
    name: 'more-before-less-is-heard',
    breaks: 'what one pod loses another has at once, before the first has heard of it',
    changes: [
      {
        file: 'src/throttle/fleet/fleet-estimate.ts',
        find: 'const growsAtMs = Math.max(nowMs, this.#hearing.atMs);',
        put: 'const growsAtMs = nowMs;',
      },
    ],
    command: tests('test/throttle/slow-store.test.ts'),
    shows: /pods share the whole limit where a heartbeat takes/,
  },
  {
    name: 'line-tried-while-it-forms',
    breaks: 'fewer are tried while a line still grows, and it is taken for what calls take',
    changes: [
      {
        file: 'src/throttle/estimate/queue-watch.ts',
        find: 'if (nowMs - (this.#farFromMs ?? nowMs) < SETTLED_MS + ms) return undefined;',
        put: '',
      },
    ],
    command: tests('test/throttle/queue-watch.test.ts', 'soon'),
    shows: /fewer are tried soon/,
  },
  {
    name: 'calls-for-a-phase-that-is-over',
    breaks: 'a call begins for a phase that has timed out while it waited',
    changes: [
      {
        file: 'src/throttle/handle.ts',
        find: 'if (!this.#caller.isOver?.()) return held;',
        put: 'if (held || !this.#caller.isOver?.()) return held;',
      },
    ],
    command: tests('test/throttle/calls.test.ts', 'phase that is over'),
    shows: /use calls nothing for a phase that is over/,
  },
  {
    name: 'uncounted-pod-keeps-all',
    breaks: 'a pod that was alone, and loses the store before it is counted, keeps the whole limit',
    changes: [
      {
        file: 'src/throttle/fleet/lease.ts',
        find: 'this.#aloneMs = share > 0 && share <= alone ?',
        put: 'this.#aloneMs = share > 0 ?',
      },
    ],
    command: tests('test/throttle/shared-apis.test.ts', 'hears nothing more'),
    shows: /has one call, and not all/,
  },
  {
    name: 'more-before-anything-came-back',
    breaks: 'a first limit grows though no call of it has come back',
    changes: [
      {
        file: 'src/throttle/estimate/first-contact.ts',
        find: 'if (latencyMs === undefined) return Number.POSITIVE_INFINITY;',
        put: '',
      },
      {
        file: 'src/throttle/estimate/first-contact.ts',
        find: 'if (ms === undefined && this.#rule.heedsLatency) return undefined;',
        put: '',
      },
    ],
    command: tests('test/throttle/estimator.test.ts', 'enough has come back'),
    shows: /more is tried once enough has come back/,
  },
  {
    name: 'shut-by-what-it-was-cut-to',
    breaks: 'an API that was shut is gone back to as to what it was cut to meanwhile',
    changes: [
      {
        file: 'src/throttle/estimate/shut.ts',
        find: 'this.#since ??= { at, cap: sentBy };',
        put: 'this.#since = { at, cap };',
      },
    ],
    command: tests('test/throttle/shut.test.ts', 'refuses many in a row'),
    shows: /an API is shut that refuses many in a row/,
  },
  {
    name: 'unread-answers-unheard',
    breaks: 'an answer whose body nobody reads says nothing of the API',
    changes: [
      {
        file: 'src/throttle/handle.ts',
        find: 'permit.known = outcome;',
        put: '',
      },
    ],
    command: tests('test/throttle/calls.test.ts', 'body nobody reads'),
    shows: /an answer whose body nobody reads counts/,
  },
  {
    name: 'learned-shown-of-a-declared-limit',
    breaks:
      'what was once found out is shown, and gone on from, where the limit is declared by now',
    changes: [
      {
        file: 'src/throttle/fleet/wire.ts',
        find: 'const learned = isAdaptive ? found : latencyOf(found);',
        put: 'const learned = isAdaptive ? found : { ...latencyOf(found), ...found };',
      },
    ],
    command: tests('test/admin/throttles.test.ts', 'nothing that was learned'),
    shows: /whether a limit is found out is shown; where it is not, nothing that was learned is/,
  },
];
