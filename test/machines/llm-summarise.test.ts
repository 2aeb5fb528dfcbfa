/** A machine that asks a scarce model: refusals cost it nothing, wrong answers an attempt. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFleet, listen } from 'fleetq';
import { expect, onTestFinished, test } from 'vitest';
import { type SampleLlmOptions, startSampleLlm } from '../../machines/llm-summarise/sample-llm.ts';
import { llmSummarise } from '../../machines/llm-summarise/summarise.ts';
import { removeTree } from '../support/remove-tree.ts';

const text = 'one two three four five six seven eight';

async function start(options: SampleLlmOptions = {}) {
  const llm = await startSampleLlm({ latencyMs: 20, ...options });
  const dataDir = mkdtempSync(join(tmpdir(), 'fleetq-llm-'));
  const fleet = await createFleet({ machines: [llmSummarise], dataDir, socket: false });
  onTestFinished(async () => {
    await fleet.drain({ budget: '1s' });
    await llm.close();
    removeTree(dataDir);
  });
  const ask = (words: number, of = text) =>
    fleet.startLocal(llmSummarise, { url: llm.url, text: of, words });
  const kinds = (id: string) => fleet.events(id).map(({ event }) => event.type);
  return { llm, fleet, ask, kinds };
}

test('a text is summarised by the model, and one that is short enough without it', async () => {
  const { llm, fleet, ask } = await start();
  expect(await (await ask(3)).result()).toEqual({ summary: 'one two three' });
  const short = await ask(8);
  expect(await short.result()).toEqual({ summary: text });
  expect(fleet.describe(short.id)).toMatchObject({ outcome: 'handedOff' });
  expect(llm.asked).toBe(1);
});

test('more runs than the model takes at once end all the same, in one attempt each', async () => {
  const { llm, fleet, ask, kinds } = await start({ capacity: 2 });
  const runs = await Promise.all(Array.from({ length: 12 }, () => ask(2)));
  for (const run of runs) expect(await run.result()).toEqual({ summary: 'one two' });
  expect(llm.inFlightMax).toBe(2);
  expect(llm.refused).toBeGreaterThan(0);
  for (const { id } of runs) expect(kinds(id)).not.toContain('FAILED');
  expect(fleet.throttle('llm').snapshot().ended).toMatchObject({ ok: 12, throttled: llm.refused });
}, 60_000);

test('while the model refuses everything a run waits, loses no attempt, and goes on after', async () => {
  const { llm, ask, kinds } = await start();
  llm.isRefusing = true;
  const run = await ask(2);
  await expect.poll(() => llm.refused, { timeout: 90_000 }).toBeGreaterThanOrEqual(2);
  llm.isRefusing = false;
  expect(await run.result()).toEqual({ summary: 'one two' });
  expect(kinds(run.id)).not.toContain('FAILED');
  expect(kinds(run.id)).toContain('POSTPONED');
}, 60_000);

test('an answer that is none is asked for again, and a request that is wrong ends the run', async () => {
  const { llm, fleet, ask } = await start();
  const said: string[] = [];
  onTestFinished(listen('phase.ended', ({ error }) => error && said.push(error.message)));
  const answers = [{ summary: '' }, { summary: text }, { summary: 'fine' }];
  llm.answers = () => ({ status: 200, body: answers.shift()! });
  expect(await (await ask(2)).result()).toEqual({ summary: 'fine' });
  expect(said).toEqual(['the summary is empty', 'the summary has 8 words, and 2 were wanted']);
  llm.answers = () => ({ status: 400, body: {} });
  const wrong = await ask(2);
  await expect(wrong.result()).rejects.toMatchObject({ outcome: 'aborted' });
  expect(fleet.describe(wrong.id)).toMatchObject({ attempt: 1, reason: 'the model answered 400' });
}, 60_000);
