/** What an installation has to do: the programs of the README, and `fleetq dev` for ten seconds. */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { blocksOf } from '../../test/docs/markdown.ts';
import { type Ended, type Place, run } from './place.ts';

export class Unfit extends Error {}

interface Program {
  readonly file: string;
  readonly text: string;
  readonly output: string;
}

export function programsOfReadme(): Program[] {
  const blocks = blocksOf('README.md');
  return blocks.flatMap(({ kind, text }, index) => {
    const next = blocks[index + 1];
    if (kind?.is !== 'program' || kind.file === undefined || next?.kind?.is !== 'output') return [];
    return [{ file: kind.file, text, output: next.text }];
  });
}

const PROGRAM_MS_MAX = 60_000;
const DEV_MS = 10_000;
const DEV_MS_MAX = 120_000;

/** `bin` is the command's file; `before` are arguments of the runtime. */
export async function judge(place: Place, bin: string, before: readonly string[]): Promise<void> {
  for (const { file, text, output } of programsOfReadme()) {
    forgetRuns(place);
    writeFileSync(join(place.project, file), text);
    const ended = await run(place, [...before, file], { timeoutMs: PROGRAM_MS_MAX });
    if (ended.code !== 0 || !sameText(ended.said, output)) throw unfit(file, ended);
  }
  forgetRuns(place);
  await judgeDev(place, bin, before);
}

/** Node, Bun and Deno print an object on one line or on many. */
function sameText(said: string, output: string): boolean {
  const plain = (text: string) => text.replaceAll(/,?\s+/g, ' ').trim();
  return plain(said).endsWith(plain(output));
}

async function judgeDev(place: Place, bin: string, before: readonly string[]): Promise<void> {
  let isAnswering: Promise<boolean> | undefined;
  let isEnding = false;
  const ended = await run(place, [...before, bin, 'dev'], {
    timeoutMs: DEV_MS_MAX,
    onSaid: (said, kill) => {
      const [url] = /http:\/\/[\d.]+:\d+/.exec(said) ?? [];
      if (url === undefined || isEnding || !/completed on pod-\d/.test(said)) return;
      isEnding = true;
      isAnswering = hasPages(url);
      setTimeout(() => kill('SIGTERM'), DEV_MS);
    },
  });
  const isSound = /lost 0, doubled 0 of \d+ acknowledged/.test(ended.said);
  if (ended.code !== 0 || !isSound || !(await isAnswering)) throw unfit('fleetq dev', ended);
}

async function hasPages(url: string): Promise<boolean> {
  const answer = await fetch(url).catch(() => undefined);
  return answer?.status === 200 && (await answer.text()).includes('<title>');
}

const SAID_LENGTH_MAX = 3_000;

export function unfit(what: string, { code, said }: Ended): Unfit {
  return new Unfit(`${what} ended with ${code} and said:\n${said.slice(-SAID_LENGTH_MAX)}`);
}

/** What earlier runs have left in the project would be gone on with. */
function forgetRuns({ project }: Place): void {
  for (const name of readdirSync(project)) {
    if (/^(\.fleetq|hello\.txt|fleet\.db.*)$/.test(name)) {
      rmSync(join(project, name), { recursive: true });
    }
  }
  mkdirSync(project, { recursive: true });
}
