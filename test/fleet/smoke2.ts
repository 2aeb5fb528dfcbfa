import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod';
import { createFleet, defineMachine, listen } from '../../src/index.ts';
import { startPostgres } from '../support/postgres.ts';

const hello = defineMachine({
  name: 'hello',
  version: 1,
  input: z.object({ n: z.number() }),
  steps: (line) =>
    line
      .step('a', {
        check: () => undefined,
        work: ({ input }) => ({ n: input.n + 1 }),
        validate: () => undefined,
        persist: ({ work }) => work.n,
      })
      .sleep('nap', '6s')
      .step('b', { check: 'none', work: ({ state }) => state.a * 2 }),
});
const fast = defineMachine({
  name: 'fast',
  version: 1,
  input: z.object({ n: z.number() }),
  check: () => undefined,
  work: ({ input }) => ({ n: input.n + 1 }),
  validate: () => undefined,
  persist: ({ work }) => work.n,
});
const N = Number(process.argv[2] ?? 2000);
const kind = process.argv[3] ?? 'postgres';
const slots = Number(process.argv[4] ?? 256);
const pg = kind === 'postgres' ? await startPostgres() : undefined;
const store = pg
  ? await pg.createDatabase()
  : `sqlite:${mkdtempSync(join(tmpdir(), 'store-'))}/fleet.db`;
for (const name of [
  'store.failed',
  'pod.died',
  'task.refused',
  'run.quarantined',
  'claim.lost',
  'journal.alarm',
  'leader.changed',
  'recovery.failed',
] as const)
  listen(name, (e) => console.log(name, JSON.stringify(e).slice(0, 400)));
let claims = 0;
listen('claim.answered', (e) => {
  if (e.got) claims++;
});
const client = await createFleet({
  machines: [hello, fast],
  store,
  migrates: true,
  isClient: true,
  dataDir: mkdtempSync(join(tmpdir(), 'pod-')),
});
const t00 = performance.now();
const jobs: Promise<unknown>[] = [];
for (let i = 0; i < N; i += 1) {
  jobs.push(client.enqueue(fast, { n: i }));
  if (jobs.length % 200 === 0) await Promise.all(jobs);
}
await Promise.all(jobs);
console.log('enqueued', ((N / (performance.now() - t00)) * 1000).toFixed(0), '/s');
const h = await client.enqueue(hello, { n: 1 });
const t0 = performance.now();
const a = await createFleet({
  machines: [hello, fast],
  store,
  dataDir: mkdtempSync(join(tmpdir(), 'pod-')),
  slots,
  heartbeat: '500ms',
  silence: '3s',
});
console.log('started', (performance.now() - t0).toFixed(0));
for (;;) {
  const left = await client.store.list({ status: 'pending', countMax: 1 });
  const held = await client.store.list({ status: 'claimed', countMax: 1 });
  if (left.length + held.length === 0) break;
  await new Promise((r) => setTimeout(r, 20));
}
const ms = performance.now() - t0;
console.log(
  'done',
  N,
  'in',
  ms.toFixed(0),
  'ms',
  ((N / ms) * 1000).toFixed(0),
  '/s',
  'claims',
  claims,
);
console.log(await h.result({ timeout: '20s' }));
const t1 = performance.now();
console.log(
  await (await client.enqueue(fast, { n: 41 })).result({ timeout: '10s' }),
  'after',
  (performance.now() - t1).toFixed(0),
);
console.log(await client.store.violations());
console.log(JSON.stringify(a.status));
await a.drain({ budget: '5s' });
console.log((await client.store.pods()).map((x) => `${x.name} ${x.status}`));
await client.drain();
await pg?.remove();
