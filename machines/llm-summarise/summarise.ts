/**
 * Has a text summarised by a model that takes only so many calls at once. How many is found out, and the
 * whole fleet keeps to it; a call that was refused costs the run no attempt. What a model answers need not be
 * what was wanted: an answer that is none is asked for again.
 */
import { abort, defineMachine, handoff, proceed } from 'fleetq';
import * as z from 'zod';
import { keepOnce } from '../sample/ledger.ts';

const TEXT_CHARS_MAX = 100_000;
const WORDS_OTHERWISE = 20;
/** About so many characters are one of the units that models are paid by. */
const CHARS_PER_TOKEN = 4;
const Answer = z.object({ summary: z.string() });

const wordsOf = (text: string): number => text.split(/\s+/).filter(Boolean).length;

export const llmSummarise = defineMachine({
  name: 'llm/summarise',
  version: 1,
  input: z.object({
    url: z.url({ protocol: /^https?$/ }).describe('where the model is asked, by POST'),
    text: z.string().min(1).max(TEXT_CHARS_MAX),
    words: z.int().min(1).max(1_000).default(WORDS_OTHERWISE).describe('at most so many'),
  }),
  retry: { attemptMax: 4 },
  timeout: { run: '1h' },

  // What is short enough needs no model, and no permit either.
  check: ({ input: { text, words } }) =>
    wordsOf(text) <= words ? handoff({ summary: text.trim() }, 'short enough already') : proceed,

  work: async ({ input: { url, text, words }, throttle }) => {
    const init = {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ text, words }),
    };
    const cost = Math.ceil(text.length / CHARS_PER_TOKEN);
    const response = await throttle('llm').fetch(url, init, { cost });
    if (response.ok) return Answer.parse(await response.json());
    const said = `the model answered ${response.status}`;
    // A request that is wrong stays wrong, however often it is sent.
    if (response.status < 500) abort(said, { kind: 'user' });
    throw new Error(said);
  },

  validate: ({ work: { summary }, input: { words } }) => {
    const count = wordsOf(summary);
    if (count === 0) throw new Error('the summary is empty');
    if (count > words) throw new Error(`the summary has ${count} words, and ${words} were wanted`);
  },

  persist: ({ work, runId, attempt }) => {
    keepOnce(runId, attempt);
    return work;
  },
});
