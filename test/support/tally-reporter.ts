/**
 * The last line of a run, in a form that any tool reads: how many passed, failed and were skipped. What
 * failed outside of a test counts: a file that leaks, a hook, an error that no code handles.
 */
import type { Reporter, SerializedError, TestModule } from 'vitest/node';

export class TallyReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    const count = (state: 'passed' | 'failed' | 'skipped') =>
      modules.reduce((all, { children }) => all + [...children.allTests(state)].length, 0);
    const files = modules.filter((module) => module.errors().length > 0).length;
    const failed = count('failed') + files + unhandled.length;
    console.log(`${count('passed')} passed, ${failed} failed, ${count('skipped')} skipped`);
  }
}
