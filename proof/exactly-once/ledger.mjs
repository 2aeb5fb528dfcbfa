/**
 * Machines that add a row to a table of their author's by `tx`, and nothing keeps a second one out of it.
 * Now and then one of them kills its process: before it writes, when it has, or while that commits.
 */
import { pathToFileURL } from 'node:url';
import * as z from 'zod';

const { dist, insert, killEvery } = JSON.parse(process.env['EXACTLY_ONCE'] ?? '{}');
const { defineMachine } = await import(pathToFileURL(`${dist}/index.js`).href);

const input = z.object({ n: z.int() });
const retry = { attemptMax: 50, backoff: () => 20 };

function die() {
  process.kill(process.pid, 'SIGKILL');
}

const POINTS = {
  before: (point) => point === 0 && die(),
  written: (point) => point === 1 && die(),
  /** Its answer is on its way to be committed, or has been: a few turns later. */
  committing: (point) => {
    if (point < 2) return;
    let turns = (point - 2) * 3;
    const look = () => (turns-- <= 0 ? die() : setImmediate(look));
    look();
  },
};

async function persist({ tx, input: { n }, runId, attempt, fencingToken }) {
  const isChosen = killEvery > 0 && attempt === 1 && n % killEvery === 0;
  const point = isChosen ? (n / killEvery) % 6 : -1;
  POINTS.before(point);
  await tx.query(insert, [runId, fencingToken]);
  POINTS.written(point);
  POINTS.committing(point);
  return n;
}

const step = { check: 'none', work: ({ input: { n } }) => n, persistIn: 'store', persist };

/** Its end commits with the row. */
export const ends = defineMachine({ name: 'ends', version: 1, input, retry, ...step });

/** The row commits with a record in the middle of it. */
export const goesOn = defineMachine({
  name: 'goes-on',
  version: 1,
  input,
  retry,
  steps: (line) =>
    line.step('book', step).step('report', { check: 'none', work: ({ state }) => state.book }),
});

export const machines = [ends, goesOn];
