/** Explanations by the API: of the shape its table gives, and no more than whoever asks may see. */
import { expect, test } from 'vitest';
import { ROUTES } from '../../../src/admin/routes/index.ts';
import { CANARY, type House, useHouses } from '../house.ts';

const openHouse = useHouses();
const { schema } = ROUTES.find(({ path }) => path === '/runs/:id/explain')!.answers;

async function taskOf({ fleet }: House, machine: string, status: string): Promise<string> {
  const { id } = await fleet.enqueueByName(machine, { secret: CANARY });
  await expect
    .poll(async () => (await fleet.store.find([id as never]))[0]?.status, { timeout: 90_000 })
    .toBe(status);
  return id;
}

test('a failed task, a held one and a local run are explained; secrets and names are for those who may', async () => {
  const house = await openHouse();
  const ask = async (id: string, name: string, query = '') => {
    const path = `/api/v1/runs/${id}/explain${query}`;
    const told = await house.ask('GET', path, { headers: house.as(name) });
    if (told.status === 200) expect(schema.safeParse(told.body).error).toBeUndefined();
    return told;
  };
  const failed = await taskOf(house, 'test/failing', 'failed');
  const { body, text } = await ask(failed, 'ruth');
  expect(body).toMatchObject({ id: failed, findings: [{ code: 'exhausted' }] });
  expect(text).not.toContain(CANARY);
  expect((await ask(failed, 'rev', '?reveal=true')).text).toContain(CANARY);
  expect((await ask(failed, 'ruth', '?reveal=true')).status).toBe(403);

  const held = await taskOf(house, 'test/gated', 'claimed');
  expect((await ask(held, 'ruth')).body.findings[0].sentence).toMatch(
    /^It is running: .*in main\.work/,
  );
  const asking = { headers: house.as('olga'), body: {} };
  const paused = await house.ask('POST', `/api/v1/runs/${held}/pause`, asking);
  expect(paused.body).toMatchObject({ kind: 'requested' });
  expect((await ask(held, 'ada')).text).toContain('olga asked for it');
  expect((await ask(held, 'ruth')).text).not.toContain('olga');

  const local = await house.fleet.startByName('test/double', { n: 2 });
  await house.fleet.runById(local.id).result();
  expect((await ask(local.id, 'ruth', '?source=journal')).body.findings).toMatchObject([
    { code: 'completed' },
  ]);
  const unknown = await ask('01JZZZZZZZZZZZZZZZZZZZZZZZ', 'ruth');
  expect([unknown.status, unknown.body.code]).toEqual([404, 'FLEETQ_RUN_NOT_FOUND']);
});
