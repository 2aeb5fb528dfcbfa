// biome-ignore-all lint/suspicious/noTemplateCurlyInString: it quotes source that has templates
/** Bugs in the life of a pod: its heart, its claims, its end, and how it comes back. */
import { type Mutant, tests, tool } from './mutant.ts';

const LIFE = 'src/fleet/life.ts';
const BEAT = 'src/fleet/beat-loop.ts';
const ADOPTER = 'src/fleet/adopter.ts';
const POD = 'src/fleet/pod.ts';

export const PODS: readonly Mutant[] = [
  {
    name: 'deadline-from-the-answer',
    breaks: 'phases may begin until a silence after the answer, when the pod may be swept (I10)',
    changes: [
      {
        file: BEAT,
        find: '    onHeard({ answer, sentMs, heardMs: this.#ports.clock.monotonicMs(), madeMs });',
        put: `    const heardMs = this.#ports.clock.monotonicMs();
    onHeard({ answer, sentMs: Math.max(sentMs, heardMs), heardMs, madeMs });`,
      },
    ],
    command: tests('test/fleet/beat-loop.test.ts'),
    shows: /I10: the deadline counts from when the beat was sent/,
  },
  {
    name: 'deadline-by-the-wall-clock',
    breaks: 'a clock that is set back lets phases begin after the deadline (I10, I27)',
    changes: [
      {
        file: LIFE,
        find: 'return this.#ports.clock.monotonicMs() - this.#heart.deadlineMs;',
        put: 'return this.#ports.clock.now() - this.#heart.deadlineMs;',
      },
      {
        file: BEAT,
        find: '    onHeard({ answer, sentMs, heardMs: this.#ports.clock.monotonicMs(), madeMs });',
        put: `    const { clock } = this.#ports;
    onHeard({ answer, sentMs: sentMs - clock.monotonicMs() + clock.now(), heardMs: sentMs });`,
      },
    ],
    command: tests('test/fleet/fence-clocks.test.ts'),
    shows: /I10, I27: a clock that is set/,
  },
  {
    name: 'self-fence-off',
    breaks: 'a pod that nobody hears begins phases for ever (I10)',
    changes: [
      {
        file: LIFE,
        find: 'return !this.isDead && isSure && this.#lateMs < aloneMs;',
        put: 'return !this.isDead && isSure && this.#lateMs < Number.POSITIVE_INFINITY;',
      },
    ],
    command: tests('test/fleet/fence.test.ts'),
    shows: /I10: no phase begins after the deadline/,
  },
  {
    name: 'heart-stopped-at-drain',
    breaks: 'the heart stops when the drain begins, and the pod is swept while it works (I39)',
    changes: [
      {
        file: LIFE,
        find: '    this.isDraining = true;\n    await Promise.all(',
        put: '    this.isDraining = true;\n    await this.#heart.stop();\n    await Promise.all(',
      },
    ],
    command: tests('test/fleet/drain.test.ts', 'the heart beats until the end'),
    shows: /the heart beats until the end of the drain/,
  },
  {
    name: 'claims-while-draining',
    breaks: 'a pod that drains claims on (I39)',
    changes: [
      {
        file: LIFE,
        find: 'await Promise.all([this.#ports.store.markDraining(this.id), this.#claimer.stop()]);',
        put: 'await Promise.all([]);',
      },
      {
        file: LIFE,
        find: 'if (!this.isReady || this.isDraining || journal.stalledBy',
        put: 'if (!this.isReady || journal.stalledBy',
      },
    ],
    command: tests('test/fleet/drain.test.ts', 'I39'),
    shows: /I39: /,
  },
  {
    name: 'released-beside-its-handler',
    breaks: 'a drain gives a run back whose handler still works on it (I9)',
    changes: [
      {
        file: 'src/engine/drainer.ts',
        find: '    if (run.slot !== undefined) return this.#leaveBehind(run);\n',
        put: '    if (run.slot === -1) return this.#leaveBehind(run);\n',
      },
    ],
    command: tests('test/fleet/drain.test.ts', 'H8: a handler that does not listen'),
    shows: /H8: a handler that does not listen is not released beside itself/,
  },
  {
    name: 'reconcile-off',
    breaks: 'a claim whose answer was lost stays with a pod that does not know of it (I38)',
    changes: [
      {
        file: 'src/fleet/doubts.ts',
        find: 'const isDue = this.#isUnsure || this.#miscounts > MISCOUNTS_MAX;',
        put: 'const isDue = this.#isUnsure && this.#miscounts > MISCOUNTS_MAX;',
      },
    ],
    command: tests('test/fleet/reconcile.test.ts'),
    shows: /H4: a claim whose answer was lost is found/,
  },
  {
    name: 'dead-pod-goes-on',
    breaks: 'a pod that was told of its death keeps its runs (I8, I9)',
    changes: [
      {
        file: LIFE,
        find: '    for (const held of this.holdings.all()) this.#drop(held);',
        put: '    for (const held of this.holdings.all()) held.isOver = true;',
      },
    ],
    command: tests('test/fleet/fence.test.ts', 'row 17'),
    shows: /row 17: a pod that was taken for dead stops its runs/,
  },
  {
    name: 'host-name-as-incarnation',
    breaks: 'a pod comes back under the name it had when it died (I11)',
    changes: [
      {
        file: POD,
        find: '        id: this.#mint(),',
        put: '        id: `${this.#ports.name}${String(this.#mint()).slice(0, 0)}` as PodId,',
      },
    ],
    command: tests('test/fleet/fence.test.ts', 'row 17'),
    shows: /row 17: a pod that was taken for dead stops its runs, registers anew/,
    isSlow: true,
  },
  {
    name: 'store-ahead-not-noticed',
    breaks: 'a journal that was put back to an earlier state is taken for whole (I22)',
    changes: [
      {
        file: POD,
        find: 'if (seen.boot > journal.boot || seen.lsn > lsn) {',
        put: 'if (seen.boot > journal.boot && seen.lsn < lsn) {',
      },
    ],
    command: tests('test/fleet/copied-journal.e2e.test.ts', 'put back in place'),
    shows: /a journal that was put back in place is said to be behind the store/,
    isSlow: true,
  },
  {
    name: 'predecessor-not-fenced',
    breaks: 'a successor does not declare its predecessor dead, and gets nothing of it (I20)',
    changes: [
      {
        file: ADOPTER,
        find: 'const hasDied = await fenceProven(from, { store, clock, by: pod, budgetMs: silentMs });',
        put: 'const hasDied = from === pod && (await fenceProven(from, { store, clock, by: pod, budgetMs: silentMs }));',
      },
    ],
    command: tests('test/fleet/adopt.test.ts'),
    shows: /row 5: a claim whose answer never came is begun by the next process/,
  },
  {
    name: 'disk-ignored-at-adoption',
    breaks: 'a new process forgets what is on its own disk, and does it again',
    changes: [
      { file: ADOPTER, find: 'if (found?.isUsable &&', put: 'if (found?.isUsable === null &&' },
      { file: ADOPTER, find: '    await footing.archive(tails);\n', put: '' },
    ],
    command: tests('test/fleet/adopt.test.ts'),
    shows: /rows 9 to 12: what is recorded here and not archived is not done again/,
  },
  {
    name: 'probe-skipped-at-take-over',
    breaks: 'a phase that was cut off is repeated without asking whether it has happened (I41)',
    changes: [
      {
        file: 'src/engine/holder.ts',
        find: 'isOver || !isBetween(run, last.event) ? known : undefined;',
        put: 'known && (isOver || isBetween(run, last.event)) ? undefined : undefined;',
      },
    ],
    command: tool('proof/main.ts', 'simulate', '--seeds', '10'),
    shows: /^seed \d+: .*I41/,
    isSlow: true,
  },
  {
    name: 'adopts-under-a-name-that-is-not-its-own',
    breaks:
      'a process whose beat was refused takes tasks over for the one that beats instead (I21)',
    changes: [
      {
        file: LIFE,
        find: `from anybody.
    if (this.isDead) return;`,
        put: 'from anybody.',
      },
    ],
    command: tests('test/fleet/cut-short-adoption.test.ts', '^I21'),
    shows: /I21: a pod in whose name another process beats takes nothing over/,
  },
  {
    name: 'adopts-on-when-it-is-dead',
    breaks:
      'a process that finds its clone while it adopts takes the rest in the name of that (I21)',
    changes: [{ file: ADOPTER, find: '    if (keeper.isDead) return [];\n', put: '' }],
    command: tests('test/fleet/cut-short-adoption.test.ts', '^I21'),
    shows: /I21: a pod that learns of its clone while it takes over takes nothing more/,
  },
  {
    name: 'forgets-what-it-could-not-take',
    breaks:
      'a take-over that was cut short loses which phases were open: no crash counts (I29, I41)',
    changes: [
      {
        file: ADOPTER,
        find: 'if (isAll) forgetter.forget(',
        put: 'if (isAll || !isAll) forgetter.forget(',
      },
    ],
    command: tests('test/fleet/cut-short-adoption.test.ts', '^I41'),
    shows: /I41: a pod that is taken for dead while it takes over forgets nothing/,
  },
  {
    name: 'timeline-not-in-the-epoch',
    breaks: 'after a failover that lost commits two owners get one epoch (I7, I23)',
    changes: [
      {
        file: 'src/store/postgres/sql.ts',
        find: "('x' || ${timeline})::bit(32)::bigint << 32) + 1`;",
        put: "('x' || ${timeline})::bit(32)::bigint * 0) + 1`;",
      },
    ],
    command: tests('test/store/postgres-edges.store.test.ts'),
    shows: /an epoch begins above everything that an earlier primary can have given out/,
  },
];
