/** A line for each failure, before the long report of them: of a log that is cut, all are read. */
import type { Reporter, SerializedError, TestModule } from 'vitest/node';

const LETTERS_MAX = 200;
const shortly = (message = '') => message.replaceAll(/\s+/g, ' ').slice(0, LETTERS_MAX);

export class FailuresReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    const inFiles = modules.flatMap((module) => [
      ...module.errors().map(({ message }) => `${module.relativeModuleId}: ${shortly(message)}`),
      ...[...module.children.allTests('failed')].map((test) => {
        const message = test.result().errors?.[0]?.message;
        return `${module.relativeModuleId} > ${test.fullName}: ${shortly(message)}`;
      }),
    ]);
    const outside = unhandled.map(({ message }) => `outside of tests: ${shortly(message)}`);
    const lines = [...inFiles, ...outside];
    if (lines.length > 0) console.log(`\nFailed:\n${lines.join('\n')}`);
  }
}
