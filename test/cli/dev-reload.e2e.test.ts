/** `fleetq dev` and code that changes under it: real pods, real files, saved well and badly. */
import { mkdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { Imports } from '../../src/cli/dev/imports.ts';
import { Reloader } from '../../src/cli/dev/reloader.ts';
import type { DevEvent } from '../../src/cli/dev/story.ts';
import { Watcher } from '../../src/cli/dev/watcher.ts';
import type { HandoverEnd } from '../../src/cli/worker/supervisor.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { gate } from '../support/fleets.ts';
import { removeTree } from '../support/remove-tree.ts';
import { begin, type Call, fileAppears, fleetq, makeDirectory } from './support.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** A project whose machine says what its code says; what it says is in a file that it imports. */
function makeProject(): {
  readonly cwd: string;
  say(word: string): void;
  save(code: string): void;
} {
  const cwd = makeDirectory();
  mkdirSync(join(cwd, 'machines'));
  mkdirSync(join(cwd, 'node_modules'));
  symlinkSync(ROOT, join(cwd, 'node_modules', 'fleetq'));
  symlinkSync(join(ROOT, 'node_modules', 'zod'), join(cwd, 'node_modules', 'zod'));
  const say = (word: string) =>
    writeFileSync(join(cwd, 'word.mjs'), `export const word = '${word}';\n`);
  const save = (code: string) => writeFileSync(join(cwd, 'machines', 'talk.mjs'), code);
  say('first');
  save(TALK);
  return { cwd, say, save };
}

const TALK = `
import { existsSync, writeFileSync } from 'node:fs';
import { defineMachine } from 'fleetq';
import * as z from 'zod';
import { word } from '../word.mjs';
export const talk = defineMachine({
  name: 'talk', version: 1, input: z.object({ gate: z.string().optional() }), check: 'none',
  work: async ({ input }) => {
    if (input.gate) writeFileSync(input.gate + '.in', word);
    while (input.gate && !existsSync(input.gate)) await new Promise((go) => setTimeout(go, 5));
    return word;
  },
  persist: ({ work }) => [work, word],
});
`;

/** Some ten processes are started one after the other, on a host that may be busy. */
const PATIENCE_MS = 150_000;
const STORE = ['--store', 'sqlite:.fleetq/fleet.db'];

async function talk(cwd: string, input: object = {}): Promise<string[]> {
  const machines = { FLEETQ_MACHINES: join(cwd, 'machines') };
  const args = ['enqueue', 'talk', '--input', JSON.stringify(input), '--wait', ...STORE];
  const done = await fleetq(cwd, args, { env: machines, timeoutMs: PATIENCE_MS });
  expect(done.code, done.stderr).toBe(0);
  return JSON.parse(done.stdout);
}

async function devIn(cwd: string): Promise<Call> {
  // Nobody is to be taken for dead here, however busy the host is.
  const env = { FLEETQ_LOG_LEVEL: 'error' };
  const dev = begin(['dev', '--silence', '60s'], { cwd, env, timeoutMs: PATIENCE_MS });
  await dev.said(/(pod-\d up after[\s\S]*){3}/);
  return dev;
}

test('code that is saved goes to the pods, and a run in hand goes on with it; bad code changes nothing', {
  timeout: PATIENCE_MS,
}, async () => {
  const { cwd, say, save } = makeProject();
  const dev = await devIn(cwd);
  expect(await talk(cwd)).toEqual(['first', 'first']);
  const wait = join(cwd, 'gate');
  const inHand = talk(cwd, { gate: wait });
  expect(await fileAppears(`${wait}.in`)).toBe('first');
  say('second');
  await dev.said(/word\.mjs changed: it goes to the pods/);
  // Whoever has it in hand cannot hand over before this.
  writeFileSync(wait, '');
  // The phase in hand is done once, by the code before; which pod gets the next one is nobody's promise.
  expect((await inHand)[0]).toBe('first');
  await dev.said(/pod-\d has drained \(process \d+\); process \d+ takes over/);
  await dev.said(/all 3 pods have the new code after/);
  expect(await talk(cwd)).toEqual(['second', 'second']);

  save('export const broken = ;');
  await dev.said(
    /not deployed, the pods go on as they were: machines\/talk\.mjs cannot be loaded: /,
  );
  dev.child.kill('SIGTERM');
  const { code, stderr, stdout } = await dev.ended;
  expect(code).toBe(0);
  expect(stderr).toMatch(/lost 0, doubled 0 of 3 acknowledged/);
  expect(stdout.match(/has drained/g)).toHaveLength(3);
});

describe('the watcher', () => {
  const directories: string[] = [];
  afterEach(() => {
    for (const each of directories.splice(0)) removeTree(each);
  });

  function watched() {
    const project = makeProject();
    const files = [join(project.cwd, 'machines', 'talk.mjs')];
    const changes: (readonly string[])[] = [];
    const clock = new FakeClock();
    const onChange = (changed: readonly string[]) => changes.push(changed);
    const watcher = new Watcher({ clock, files: () => files, onChange });
    watcher.start();
    return { ...project, files, changes, watcher };
  }

  test('tells of a file, or of one that it imports, when it stands still', () => {
    const { cwd, say, save, changes, watcher } = watched();
    watcher.look();
    expect(changes).toEqual([]);
    say('second');
    watcher.look();
    expect(changes, 'it may still be being written').toEqual([]);
    say('second and third');
    watcher.look();
    expect(changes).toEqual([]);
    watcher.look();
    expect(changes).toEqual([[join(cwd, 'word.mjs')]]);
    save(`${TALK}\n`);
    watcher.look();
    watcher.look();
    watcher.look();
    expect(changes.slice(1)).toEqual([[join(cwd, 'machines', 'talk.mjs')]]);
  });

  test('follows imports as TypeScript spells them, in a circle too, and leaves packages alone', () => {
    const cwd = makeDirectory();
    const at = (name: string) => join(cwd, name);
    mkdirSync(at('lib'));
    writeFileSync(at('a.ts'), "import z from 'zod'; import { b } from './b.js';\nimport './lib';");
    writeFileSync(at('b.ts'), "export { a } from './a.js'; const c = await import('./c.mjs');");
    writeFileSync(at('c.mts'), "// from './nothing.js'");
    writeFileSync(at('lib/index.ts'), '');
    const imports = new Imports();
    const found = [...imports.from([at('a.ts')], 100).keys()];
    expect(found).toEqual(['a.ts', 'b.ts', 'lib/index.ts', 'c.mts'].map(at));
    expect(imports.from([at('a.ts')], 2).size).toBe(2);
    const before = imports.from([at('a.ts')], 100).get(at('b.ts'));
    utimesSync(at('b.ts'), 1, 1);
    expect(imports.from([at('a.ts')], 100).get(at('b.ts'))).not.toBe(before);
  });
});

describe('the reloader', () => {
  function reloader(handOver: (pod: string) => Promise<HandoverEnd>) {
    const told: DevEvent[] = [];
    const handed: string[] = [];
    const made = new Reloader({
      clock: new FakeClock(),
      pods: ['pod-1', 'pod-2'],
      handOver: (pod) => {
        handed.push(pod);
        return handOver(pod);
      },
      tell: (event) => told.push(event),
    });
    return { made, told, handed };
  }
  const replaced = async (): Promise<HandoverEnd> => ({ kind: 'replaced' });

  test('ends with what was saved last, however quickly it was saved', async () => {
    const first = gate();
    let count = 0;
    const { made, told, handed } = reloader(async () => {
      if (++count === 1) await first.opened;
      return { kind: 'replaced' };
    });
    made.want(['a']);
    made.want(['b']);
    made.want(['c']);
    first.open();
    await vi.waitFor(() => expect(told.at(-1)?.kind).toBe('reloaded'), 90_000);
    // The first was begun with what was there at the time; then all of them, once.
    expect(handed).toEqual(['pod-1', 'pod-1', 'pod-2']);
    expect(told.filter(({ kind }) => kind === 'reloaded')).toHaveLength(1);
  });

  test('stops at a pod that cannot begin, and tries again with the next save', async () => {
    let isBad = true;
    const { made, told, handed } = reloader(async () =>
      isBad ? { kind: 'failed', why: 'no' } : { kind: 'replaced' },
    );
    made.want(['a']);
    await vi.waitFor(() => expect(told.at(-1)).toMatchObject({ kind: 'kept', count: 0 }), 90_000);
    expect(handed).toEqual(['pod-1']);
    isBad = false;
    made.want(['a']);
    await vi.waitFor(() => expect(told.at(-1)?.kind).toBe('reloaded'), 90_000);
    expect(handed).toEqual(['pod-1', 'pod-1', 'pod-2']);
  });

  test('begins nothing more when it is stopped', async () => {
    const { made, handed } = reloader(replaced);
    made.stop();
    made.want(['a']);
    expect(handed).toEqual([]);
  });
});
