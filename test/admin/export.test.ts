/** A task as a file, from the API: whole, sealed where it is stored sealed, and for few. */
import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { readRunFile } from '../../src/cli/run-file/read.ts';
import { isLargerThan } from '../../src/fleet/run-file/task-file.ts';
import { type Codec, newCodecKey, parseCodecKeys, type RunId } from '../../src/ground/index.ts';
import { aesCodec } from '../../src/index.ts';
import { useTempDirs } from '../support/temp-dir.ts';
import { type House, useHouses } from './house.ts';

const openHouse = useHouses();
const newDir = useTempDirs();
const CANARY = 'canary-7731';

async function failedIn(house: House, redrives = 0): Promise<RunId> {
  const { fleet } = house;
  const { id } = await fleet.enqueueByName('test/failing', { secret: CANARY });
  const task = id as RunId;
  const at = async () => {
    const [row] = await fleet.store.find([task]);
    return [row?.status, row?.generation];
  };
  for (let count = 0; count <= redrives; count += 1) {
    await expect.poll(at, { timeout: 90_000 }).toEqual(['failed', count + 1]);
    if (count === redrives) break;
    const redrive = `/api/v1/runs/${id}/redrive`;
    const told = await house.ask('POST', redrive, { headers: house.as('olga'), body: {} });
    expect(told.status, told.text).toBe(200);
  }
  return task;
}

const fileOf = (house: House, id: string, as = 'rev') =>
  house.ask('GET', `/api/v1/runs/${id}/export`, { headers: house.as(as) });

/** As somebody reads it who has nothing but the file. */
function read(text: string, codec?: Codec) {
  const path = newDir('taken.run.json');
  writeFileSync(path, text);
  return readRunFile(path, codec);
}

test('a task is one file with all its generations, and whoever takes it leaves a row', async () => {
  const house = await openHouse();
  const id = await failedIn(house, 1);
  const told = await fileOf(house, id);
  expect([told.status, told.headers['content-disposition']]).toEqual([
    200,
    `attachment; filename="${id}.run.json"`,
  ]);
  const { file, records } = read(told.text);
  expect(file).toMatchObject({ id, task: { status: 'failed', generation: 2 } });
  expect(file.generations.map(({ generation }) => generation)).toEqual([1, 2]);
  expect([...records.values()].every((of) => of.length > 0)).toBe(true);
  expect(told.text).toContain(CANARY);
  const changed = told.text.replace(CANARY, 'canary-7732');
  expect(() => read(changed)).toThrow();
  const audit = await house.ask('GET', '/api/v1/audit?what=reveal', { headers: house.as('ada') });
  expect(audit.body.rows).toMatchObject([{ who: 'rev', task: id }]);
});

test('who may not reveal payloads gets none, nor is one made of what is not there', async () => {
  const house = await openHouse();
  const id = await failedIn(house);
  for (const as of ['ruth', 'olga', 'ada']) {
    const told = await fileOf(house, id, as);
    expect([as, told.status, told.body.code]).toEqual([as, 403, 'FLEETQ_FORBIDDEN']);
  }
  for (const unknown of ['01JCQ8AAAAAAAAAAAAAAAAAAAA', 'x'.repeat(200)]) {
    expect((await fileOf(house, unknown)).status).toBe(404);
  }
  const audit = await house.ask('GET', '/api/v1/audit?what=reveal', { headers: house.as('ada') });
  expect(audit.body.rows).toEqual([]);
});

test('what is sealed stays sealed, and opens elsewhere with its key', async () => {
  const codec = aesCodec(parseCodecKeys(newCodecKey('may'), 'the test'));
  const house = await openHouse({ codec });
  const { text } = await fileOf(house, await failedIn(house, 1));
  expect(text).not.toContain(CANARY);
  expect(JSON.stringify(read(text, codec).file.task)).toContain(CANARY);
});

test('where something is redacted there are no files, and none where there is no store', async () => {
  const redacting = await openHouse({ redact: ['secret'] });
  const told = await fileOf(redacting, await failedIn(redacting));
  expect([told.status, told.body.detail]).toEqual([403, expect.stringContaining('redacted')]);
  const alone = await openHouse({ hasStore: false });
  const { id } = await alone.fleet.startByName('test/double', { n: 1 });
  expect((await fileOf(alone, id)).body.code).toBe('FLEETQ_NO_STORE');
});

test('how large it is, is known before it is read whole', async () => {
  const house = await openHouse();
  const id = await failedIn(house, 1);
  const reader = await house.fleet.store.openReader();
  const [row] = await reader.find([id]);
  const segments = await reader.histories([1, 2].map((generation) => ({ task: id, generation })));
  const bytes = segments.reduce((sum, { events }) => sum + events.length, 0);
  expect(await isLargerThan(2 * bytes, reader, row!)).toBe(false);
  expect(await isLargerThan(Math.floor(bytes / 2), reader, row!)).toBe(true);
  await reader.close();
});
