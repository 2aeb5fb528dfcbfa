/** Pods rest on accounts alone: what is said of one, by its row. */
import { expect, test } from 'vitest';
import { fleetRoutes } from '../../src/admin/routes/fleet.ts';

const drain = fleetRoutes.find(({ path }) => path === '/pods/:id/drain');
const row = { pod: '01M7KA9VDSYP9ZWNJ4GK7A5WTG', name: 'alder', status: 'down' };

const asked = (of: object, body: object) => {
  const shared = { pods: async () => [of] };
  return drain?.answer({ desk: { shared }, id: row.pod, body } as never);
};

test.each([{}, { dryRun: true }])(
  'a pod that rests is not asked, and it is said why: %j',
  async (body) => {
    const error = {
      status: 409,
      code: 'FLEETQ_POD_GONE',
      message: expect.stringContaining('rests'),
    };
    await expect(asked({ ...row, desired: 'rest' }, body)).rejects.toMatchObject(error);
    expect(await asked(row, body)).toMatchObject({ status: 202, body: { isAsked: false } });
  },
);
