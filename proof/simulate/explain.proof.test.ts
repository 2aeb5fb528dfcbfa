/**
 * Whatever a storm of faults makes of rows and histories, there is something to say about each of them,
 * and to say it never throws. The fleet of the simulation is looked at again and again while it works.
 */
import { expect, test } from 'vitest';
import { showing } from '../../src/admin/desk/mask.ts';
import { explain, type Finding, gatherTask } from '../../src/admin/explain/index.ts';
import type { RunId } from '../../src/ground/index.ts';
import { identityCodec, lookingCodec } from '../../src/journal/index.ts';
import type { StoreReader, TaskRow } from '../../src/store/index.ts';
import { histories } from '../../src/store/memory/archive.ts';
import { find } from '../../src/store/memory/changes.ts';
import { gateOf } from '../../src/store/memory/flow.ts';
import { known, pods } from '../../src/store/memory/pods.ts';
import type { MemoryTables } from '../../src/store/memory/tables.ts';
import { expectWhole } from '../../test/admin/explain/support.ts';
import { simulate } from './simulate.ts';

const SEED_COUNT = 12;
const LOOK_EVERY = 151;
const TASKS_A_LOOK = 2;
const SILENT_MS = 3_000;

interface Glance {
  readonly row: TaskRow;
  readonly reader: StoreReader;
}

/** What a reader would have answered at this very moment. */
function glanceAt(tables: MemoryTables, id: RunId): Glance {
  const [row] = find(tables, [id]);
  const { generation } = row!;
  const segments = histories(tables, [{ task: id, generation }]);
  const [allPods, allKnown, now] = [pods(tables), known(tables), tables.now()];
  const none = { count: 0, isExact: true };
  const gate = gateOf(tables, row!);
  const reader = {
    now: async () => now,
    pods: async () => allPods,
    known: async () => allKnown,
    histories: async () => segments,
    count: async () => none,
    gateOf: async () => gate,
    audit: async () => ({ rows: [], cursor: undefined }),
    throttles: async () => [],
  };
  return { row: row!, reader: reader as unknown as StoreReader };
}

async function explained({ row, reader }: Glance): Promise<Finding[]> {
  const codec = lookingCodec(identityCodec);
  const asked = { codec, silentMs: SILENT_MS, shown: showing(false, []), mayAudit: true };
  return explain(await gatherTask(reader, row, { ...asked, machines: [] }));
}

test('every row and history of a storm has a finding', { timeout: 600_000 }, async () => {
  const tally = new Map<string, number>();
  let looks = 0;
  for (let seed = 1; seed <= SEED_COUNT; seed++) {
    const glances: Glance[] = [];
    const onLook = (tables: MemoryTables) => {
      looks++;
      if (looks % LOOK_EVERY !== 0) return;
      const ids = [...tables.tasks.keys()] as RunId[];
      for (let n = 0; n < Math.min(TASKS_A_LOOK, ids.length); n++) {
        glances.push(glanceAt(tables, ids[(looks * 7 + n * 13) % ids.length]!));
      }
    };
    const { violations } = await simulate(seed, { isSmall: true, onLook });
    expect(violations).toEqual([]);
    for (const glance of glances) {
      const findings = await explained(glance);
      expect(findings.length).toBeGreaterThan(0);
      findings.forEach(expectWhole);
      for (const { code } of findings) tally.set(code, (tally.get(code) ?? 0) + 1);
      // A row that has ended is never said to wait, and one that has not never to have ended.
      const hasEnded = glance.row.finishedAt !== undefined;
      expect([glance.row.status, ENDS.has(findings[0]!.code)]).toEqual([
        glance.row.status,
        hasEnded,
      ]);
    }
  }
  // A storm that came across nothing proves nothing.
  for (const code of SEEN) expect(tally.get(code) ?? 0, code).toBeGreaterThan(0);
});

const ENDS = new Set<string>([
  ...(['completed', 'handed-off', 'cancelled', 'exhausted', 'retries-spent', 'aborted'] as const),
  ...(['timed-out', 'crash-loop', 'machine-unknown', 'row-refused', 'quarantined'] as const),
]);

const SEEN = ['running', 'completed', 'process-died', 'error-retried', 'owner-silent', 'sleeping'];
