/** The clock that users get for their tests is the one that ours use. */
export { FakeClock } from '../../src/testing/fake-clock.ts';
