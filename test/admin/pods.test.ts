/** The list of pods is bounded: a fleet whose pods crash for a week leaves a row for each of them. */
import { expect, test } from 'vitest';
import { fleetRoutes } from '../../src/admin/routes/fleet.ts';

const list = fleetRoutes.find(({ path }) => path === '/pods')!;
const ENDED = 1_000;
const rows = [
  { pod: 'first', status: 'up' },
  ...Array.from({ length: ENDED }, (_, index) => ({ pod: `ended-${index}`, status: 'down' })),
  { pod: 'dead', status: 'dead' },
  { pod: 'rests', status: 'down', desired: 'rest' },
];

async function ask(query: object) {
  const answer = await list.answer({
    query,
    desk: { shared: { pods: async () => rows } },
  } as never);
  const { pods, omitted } = answer!.body as { pods: { pod: string }[]; omitted?: number };
  return { pods: pods.map(({ pod }) => pod), omitted };
}

test('without all, only pods that are there are listed', async () => {
  expect(await ask({})).toEqual({ pods: ['first', 'dead', 'rests'], omitted: undefined });
});

test('with all, the newest that are down come too, and how many older ones were left out', async () => {
  const told = await ask({ all: 'true' });
  expect(told.pods).toHaveLength(203);
  expect([told.pods[0], told.pods[1], ...told.pods.slice(-2)]).toEqual([
    'first',
    'ended-800',
    'dead',
    'rests',
  ]);
  expect(told.omitted).toBe(800);
});

test('limit says how many of them', async () => {
  const told = await ask({ all: 'true', limit: 2 });
  expect(told).toEqual({
    pods: ['first', 'ended-998', 'ended-999', 'dead', 'rests'],
    omitted: 998,
  });
});
