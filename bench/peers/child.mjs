/**
 * One side of one peer in a process of its own: `worker` runs jobs and reports each that is done, `enqueuer` puts
 * them in when it is asked to. All peers are given the same jobs.
 */
const [peer, role, url] = process.argv.slice(2);
const { open } = await import(`./${peer}.mjs`);
process.on('disconnect', () => process.exit(0));
const now = () => performance.timeOrigin + performance.now();
const side = await open(url);

if (role === 'worker') {
  await side.work({
    pickup: ({ at }) => process.send({ kind: 'pickup', ms: now() - at }),
    trivial: () => count('trivial'),
    four: () => count('four'),
  });
} else {
  process.on('message', async ({ what, count: number, pauseMs }) => {
    if (what === 'pickup') {
      for (let n = 0; n < number; n++) {
        await side.enqueue('pickup', { n, at: now() });
        await new Promise((resolve) => setTimeout(resolve, pauseMs * (0.5 + (n % 10) / 10)));
      }
    } else {
      const jobs = Array.from({ length: number }, (_, n) => ({ n }));
      for (let from = 0; from < number; from += 1_000) {
        await side.enqueueMany(what, jobs.slice(from, from + 1_000));
      }
    }
    process.send({ kind: 'enqueued' });
  });
}
process.send({ kind: 'ready', at: now() });

const counts = {};
/** A message for each would be measured too. */
function count(kind) {
  counts[kind] = (counts[kind] ?? 0) + 1;
  if (counts[kind] % 50 === 0)
    process.send({ kind: 'done', what: kind, count: counts[kind], at: now() });
}
