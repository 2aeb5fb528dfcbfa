/** The last line of a run, in a form that any tool reads: how many passed, failed and were skipped. */
import type { Reporter, TestModule } from 'vitest/node';

export class TallyReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const count = (state: 'passed' | 'failed' | 'skipped') =>
      modules.reduce((all, { children }) => all + [...children.allTests(state)].length, 0);
    console.log(
      `${count('passed')} passed, ${count('failed')} failed, ${count('skipped')} skipped`,
    );
  }
}
