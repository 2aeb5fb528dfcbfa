/**
 * What a restart makes of a run's records is what the process had in memory, after every one of them:
 * real runs, a real journal, and the state that the engine itself worked with.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Engine } from '../../src/engine/index.ts';
import { foldRun, type LiveRun } from '../../src/engine/live-run.ts';
import type { RunId } from '../../src/ground/index.ts';
import { SqliteJournal } from '../../src/journal/index.ts';
import { Registry, type RunState } from '../../src/machine/index.ts';
import { SEED, seeded } from '../ground/seed.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { never } from '../support/fleets.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { Scribe, SHAPES, type Shape, shapes } from '../support/shapes.ts';
import { useTempDirs } from '../support/temp-dir.ts';

const newDir = useTempDirs();
const RUN_MS_MAX = 60_000;

interface Lived {
  readonly state: RunState;
  readonly hash: string;
  readonly lastError: LiveRun['lastError'];
}

/** What the engine had in memory, by run and seq. */
class Witness {
  readonly #lived = new Map<string, Lived>();
  readonly #runs = new Map<RunId, LiveRun>();

  get count(): number {
    return this.#lived.size;
  }

  /** To be called before each record: the state is still that after the one before it. */
  look(engine: Engine, id: RunId): void {
    const before = this.#runs.get(id);
    if (before) this.#note(before);
    const run = engine.liveRun(id);
    if (run) this.#runs.set(id, run);
  }

  lookAtAll(): void {
    for (const run of this.#runs.values()) this.#note(run);
  }

  after(id: RunId, seq: number): Lived | undefined {
    return this.#lived.get(`${id} ${seq}`);
  }

  #note({ id, seq, state, hash, lastError }: LiveRun): void {
    this.#lived.set(`${id} ${seq}`, structuredClone({ state, hash, lastError }));
  }
}

interface Process {
  readonly engine: Engine;
  readonly journal: SqliteJournal;
  readonly registry: Registry;
}

/** A process in whose phases the `hangAt`th effect never comes to an end. */
function begin(clock: FakeClock, dataDir: string, witness: Witness, hangAt: number): Process {
  let written = 0;
  const scribe = new Scribe({
    write: () => (++written === hangAt ? (never() as Promise<void>) : undefined),
  });
  const registry = new Registry(Object.values(shapes(scribe)));
  const journal = SqliteJournal.open(dataDir, { clock, random: seededRandom(1) });
  const append = journal.append.bind(journal);
  journal.append = (entry) => {
    witness.look(engine, entry.run);
    return append(entry);
  };
  const engine = new Engine({
    ...{ journal, registry, clock, random: seededRandom(2), around: scribe.around, slots: 2 },
    ...{ resultBytesMax: 10_000, activeRunsMax: 1_000, retentionMs: RUN_MS_MAX * 1_000 },
  });
  engine.start();
  return { engine, journal, registry };
}

async function start({ engine, registry }: Process, shape: Shape, subject: string): Promise<RunId> {
  return engine.startRun(registry.newest(shape), { subject });
}

/** Compares every prefix of the run's records with what was in memory; answers how many there were. */
function compare({ journal, registry }: Process, id: RunId, witness: Witness): number {
  const row = journal.find(id)!;
  const plan = registry.find(row.machine, row.version)!;
  const records = journal.history(id);
  let compared = 0;
  for (const { seq } of records) {
    const lived = witness.after(id, seq);
    if (!lived) continue;
    const folded = foldRun(plan, id, 1, records.slice(0, seq + 1));
    if (typeof folded === 'string') throw new Error(`${id} ${seq}: ${folded}`);
    const { state, hash, lastError } = folded;
    expect({ seq, state, hash, lastError }).toStrictEqual({ seq, ...lived });
    compared++;
  }
  return compared;
}

const starts = fc.array(
  fc.record({ shape: fc.constantFrom(...SHAPES), subject: fc.string({ maxLength: 20 }) }),
  { minLength: 1, maxLength: 8 },
);

test(`every prefix of a real run's records folds to the state that was live, seed ${SEED}`, async () => {
  const seen = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(starts, fc.integer({ min: 0, max: 20 }), async (wanted, hangAt) => {
      const [clock, dataDir, witness] = [new FakeClock(), newDir(), new Witness()];
      const first = begin(clock, dataDir, witness, hangAt);
      const ids: RunId[] = [];
      for (const { shape, subject } of wanted) ids.push(await start(first, shape, subject));
      await clock.advance(hangAt * 100);
      first.engine.stopNow();
      await clock.settle();
      witness.lookAtAll();

      const second = begin(clock, dataDir, witness, 0);
      await clock.advance(RUN_MS_MAX);
      witness.lookAtAll();
      for (const id of ids) {
        const records = second.journal.history(id);
        expect(compare(second, id, witness)).toBe(records.length);
        expect(second.journal.find(id)?.ending).toEqual(
          witness.after(id, records.length - 1)?.state.ending,
        );
        for (const { event } of records) seen.set(event.type, (seen.get(event.type) ?? 0) + 1);
      }
      second.engine.stopNow();
    }),
    seeded(40),
  );
  // What would make this test say nothing: runs that nothing happens to.
  for (const type of ['DONE', 'HANDED_OFF', 'FAILED', 'ASLEEP', 'INTERRUPTED', 'PROBED']) {
    expect(seen.get(type) ?? 0, type).toBeGreaterThan(3);
  }
}, 120_000);
