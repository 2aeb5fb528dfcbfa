/** A line for each test that failed, before they are told at length: of a log that is cut, all are read. */
import type { Reporter, TestModule } from 'vitest/node';

const LETTERS_MAX = 200;
const shortly = (message = '') => message.replaceAll(/\s+/g, ' ').slice(0, LETTERS_MAX);

export class FailuresReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const lines = modules.flatMap((module) => [
      ...module.errors().map(({ message }) => `${module.relativeModuleId}: ${shortly(message)}`),
      ...[...module.children.allTests('failed')].map((test) => {
        const message = test.result().errors?.[0]?.message;
        return `${module.relativeModuleId} > ${test.fullName}: ${shortly(message)}`;
      }),
    ]);
    if (lines.length > 0) console.log(`\nFailed:\n${lines.join('\n')}`);
  }
}
