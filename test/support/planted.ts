/** Test files that a test plants, run as unit tests are by a vitest of their own. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../docs/markdown.ts';
import { run } from '../docs/workspace.ts';
import { useTempDirs } from './temp-dir.ts';

export interface PlantedRun {
  readonly code: number | null;
  readonly stdout: string;
  /** The line that counts the tests. */
  readonly tally: string | undefined;
  /** The file with what vitest reports as JSON. */
  readonly report: string;
}

/** Call once at the top of a test file: answers a runner of files, each with one test of that code. */
export function usePlanted() {
  const newDir = useTempDirs();
  return async (files: Readonly<Record<string, string>>): Promise<PlantedRun> => {
    const root = newDir();
    mkdirSync(root);
    for (const [name, code] of Object.entries(files)) {
      const text = `test('passes', async () => { ${code} });\n`;
      writeFileSync(join(root, `${name}.planted.js`), text);
    }
    const report = join(root, 'report.json');
    const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs');
    const config = join(ROOT, 'test/support/planted.config.ts');
    const args = [vitest, 'run', '--config', config, '--root', root];
    // A leak is looked for once: what is planted does not end by waiting.
    const env = { FLEETQ_LEAK_PATIENCE_MS: '1', FLEETQ_PLANTED_REPORT: report, NO_COLOR: '1' };
    const { code, stdout } = await run(ROOT, process.execPath, args, env);
    return { code, stdout, tally: /^\d+ passed, .*$/m.exec(stdout)?.[0], report };
  };
}
