/** What vitest is asked for when the slow tests are run once more. */
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** The files that failed by the JSON report; the same share again where no file did, or there is no report. */
export function secondRun(report: string, share: string): readonly string[] {
  const failed = failedFiles(report);
  return failed.length > 0 ? failed : [share];
}

function failedFiles(report: string): string[] {
  try {
    const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as {
      testResults: readonly { name: string; status: string }[];
    };
    return testResults
      .filter(({ status }) => status === 'failed')
      .map(({ name }) => relative(ROOT, name));
  } catch {
    // vitest died before it wrote its report, or while it did.
    return [];
  }
}
