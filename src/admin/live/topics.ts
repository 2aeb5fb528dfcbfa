/** What a stream is asked to tell of: the list of runs, the pods, and single runs with all they do. */
import { nearest } from '../../config/index.ts';
import { RunNotFoundError } from '../../engine/index.ts';
import { isRunId, type RunId, show } from '../../ground/index.ts';
import { badRequest } from '../problem.ts';

export interface Topics {
  readonly hasRuns: boolean;
  readonly hasPods: boolean;
  readonly runs: readonly RunId[];
}

/** Each of them is in every cursor of the connection. */
export const RUN_TOPICS_MAX = 16;
const LENGTH_MAX = 2_000;
const WANTED = 'runs, pods, run:<id>';

/** As in `runs,pods,run:01J…`; named twice is named once. */
export function parseTopics(text: string | null | undefined): Topics {
  if (!text) throw badRequest('topics must name what to tell of', `there are: ${WANTED}`);
  if (text.length > LENGTH_MAX) {
    throw badRequest(`topics must be at most ${LENGTH_MAX} characters, got ${text.length}`);
  }
  const words = new Set(text.split(','));
  const runs = [...words].filter((word) => word.startsWith('run:')).map(runOf);
  if (runs.length > RUN_TOPICS_MAX) {
    throw badRequest(
      `one stream tells of at most ${RUN_TOPICS_MAX} runs, got ${runs.length}`,
      'open another one, or take the topic runs',
    );
  }
  for (const word of words) if (!word.startsWith('run:')) refuseUnknown(word);
  return { hasRuns: words.has('runs'), hasPods: words.has('pods'), runs };
}

/** No run has an id of another form, so whoever asks for one asks for a run that is not there. */
function runOf(word: string): RunId {
  const id = word.slice('run:'.length);
  if (!isRunId(id)) throw new RunNotFoundError(id);
  return id;
}

function refuseUnknown(word: string): void {
  if (word === 'runs' || word === 'pods') return;
  const near = nearest(word, ['runs', 'pods']);
  throw badRequest(
    `there is no topic ${show(word)}`,
    `${near ? `did you mean ${near}? ` : ''}there are: ${WANTED}`,
  );
}
