/** What users test their machines with: `import … from 'fleetq/testing'`. */
import '../ground/refuse-old-node.ts';

export type { CrashPlace, CrashTestOptions, EndedCase } from './crash-options.ts';
export { crashTest } from './crash-test.ts';
export { CrashTestError, CrashTestOptionsError } from './errors.ts';
export { FakeClock, fakeClock } from './fake-clock.ts';
export { type MemoryStoreOptions, memoryStore, type SharedStore } from './memory-store.ts';
export type { CrashFault, CrashReport, FaultKind } from './report.ts';
