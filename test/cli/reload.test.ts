/** What `fleetq dev` makes of code that is saved: which files it watches, and which pods get it in what order. */
import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { Imports } from '../../src/cli/dev/imports.ts';
import { Reloader } from '../../src/cli/dev/reloader.ts';
import type { DevEvent } from '../../src/cli/dev/story.ts';
import { Watcher } from '../../src/cli/dev/watcher.ts';
import type { HandoverEnd } from '../../src/cli/worker/supervisor.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { gate } from '../support/fleets.ts';
import { usePlaces } from './in-process.ts';
import { makeProject, TALK } from './talk-project.ts';

const { makeDirectory } = usePlaces();

describe('the watcher', () => {
  function watched() {
    const project = makeProject(makeDirectory());
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
