/** Bugs where one life of a pod, or one sweep, meets the next: what comes late, and what is said. */
import { type Mutant, tests } from './mutant.ts';

export const LIVES: readonly Mutant[] = [
  {
    name: 'late-records-begun',
    breaks: 'records that come after a pod was taken for dead are begun beside its next life (I9)',
    changes: [{ file: 'src/fleet/acceptor.ts', find: '    if (keeper.isDead) return;\n', put: '' }],
    command: tests('test/fleet/fence.test.ts', '^I9'),
    shows: /I9: a run whose records come after its pod was taken for dead/,
  },
  {
    name: 'late-answer-forgets-the-next-generation',
    breaks: 'the late answer to one settlement removes what the disk has of a redriven run (I20)',
    changes: [
      {
        file: 'src/fleet/forgetter.ts',
        find: 'runs.filter((run) => !holdings.get(run))',
        put: 'runs.filter(() => holdings !== undefined)',
      },
    ],
    command: tests('test/fleet/adopt-redriven.test.ts'),
    shows: /an answer that comes when the task is here again/,
  },
  {
    name: 'certain-by-an-older-beat',
    breaks: 'a beat from before a refused settlement makes the pod forget what its disk has (I19)',
    changes: [
      {
        file: 'src/fleet/holdings.ts',
        find: 'if (sinceMs >= sentMs) continue;',
        put: 'if (sinceMs < 0) continue;',
      },
    ],
    command: tests('test/fleet/fenced-settle.test.ts'),
    shows: /nor where a beat from before that is answered after it/,
  },
  {
    name: 'parked-run-cancelled-here',
    breaks: 'a cancel that comes while a park is on its way brings the run back to life on its pod',
    changes: [
      {
        file: 'src/fleet/controls.ts',
        find: 'held?.epoch !== epoch || held.isOver) continue;',
        put: 'held?.epoch !== epoch) continue;',
      },
    ],
    command: tests('test/fleet/changes.test.ts', '^H12'),
    shows: /H12: a request that comes while a park is on its way/,
  },
  {
    name: 'steady-until-answered',
    breaks: 'a pod that was not heard for long goes on to judge others after an outage (I28)',
    changes: [
      {
        file: 'src/fleet/watch.ts',
        find: 'this.#steadySinceMs === undefined || this.#isBroken(nowMs)',
        put: 'this.#steadySinceMs === undefined',
      },
    ],
    command: tests('test/fleet/watch.test.ts'),
    shows: /whoever was not answered for two heartbeats is not steady/,
  },
  {
    name: 'late-flush-makes-worthless',
    breaks: 'what a former owner sends late makes the records of the next one useless (I20)',
    changes: [
      {
        file: 'src/fleet/history.ts',
        find: 'return later < 0 ? undefined : later;',
        put: 'return later < 0 ? undefined : undefined;',
      },
    ],
    command: tests('test/fleet/adopt.test.ts'),
    shows: /what a former owner sends late does not make the records on this disk worthless/,
  },
  {
    name: 'given-back-as-untouched',
    breaks: 'code that cannot run a task gives it back as if nothing had interrupted it (I41)',
    changes: [
      {
        file: 'src/fleet/held-run.ts',
        find: 'return this.#lastSeq === this.#fromSeq;',
        put: 'return this.#lastSeq < this.#fromSeq;',
      },
    ],
    command: tests('test/fleet/new-code.test.ts'),
    shows: /I41: what was inside a phase is still known to be/,
  },
  {
    name: 'rescued-and-not-told',
    breaks: 'a sweep that could not go to the end fails, and forgets whom it has rescued',
    changes: [
      {
        file: 'machines/recovery/sweep.ts',
        find: 'error !== undefined && error !== SHARED && tasks.length === 0',
        put: 'error !== undefined && error !== SHARED && tasks.length >= 0',
      },
    ],
    command: tests('test/machines/recovery/sweep.test.ts', '^what was rescued'),
    shows: /what was rescued is told/,
  },
  {
    name: 'cut-counted-twice',
    breaks: 'a crash counts again where records that have told of it came late (I29)',
    changes: [
      {
        file: 'src/fleet/history.ts',
        find: "return last.epoch > cutEpoch ? 'left' : 'cut';",
        put: "return last.epoch > cutEpoch ? 'cut' : 'cut';",
      },
    ],
    command: tests('test/fleet/late-cut.test.ts'),
    shows: /I29: a crash counts once/,
  },
  {
    name: 'wait-taken-for-phase',
    breaks: 'a run that waited in place when its process died has crashed it (I29)',
    changes: [
      {
        file: 'src/engine/resume.ts',
        find: 'const wasInside = isInside(run, last, evidence);',
        put: 'const wasInside = isInside(run, last, evidence) || evidence.occupied.has(run.id);',
      },
    ],
    command: tests('test/fleet/adopt-waiting.test.ts'),
    shows: /I29: a run that .* while its process dies has not crashed it/,
  },
];
