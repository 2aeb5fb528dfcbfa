/** The deadline of a pod is counted by elapsed time: whatever anybody sets its clock to. */
import { expect, test } from 'vitest';
import { gate } from '../support/fleets.ts';
import { Script, twoSteps } from './script.ts';
import { HEARTBEAT_MS, SILENT_MS, useTestFleets } from './support.ts';

const { startFleet } = useTestFleets();
const HOUR_MS = 3_600_000;

test.each([-HOUR_MS, HOUR_MS])(
  'I10, I27: a clock that is set by %i ms moves no deadline',
  async (ms) => {
    const script = new Script();
    const machine = twoSteps(script);
    const { clock, startPod } = startFleet();
    const pod = await startPod('alder', { machines: [machine], around: script.around });
    const [work, validate] = [gate(), gate()];
    script.holds.set('a.work', work.opened);
    script.holds.set('a.validate', validate.opened);
    await pod.fleet.enqueue(machine, {});
    await clock.advance(HEARTBEAT_MS);
    pod.wire.isCut = true;
    clock.setWall(clock.now() + ms);
    work.open();
    await clock.advance(HEARTBEAT_MS);
    expect(script.count('a.validate')).toBe(1);
    await clock.advance(SILENT_MS);
    validate.open();
    await clock.advance(60_000);
    expect(script.calls).toEqual(['a.check@1', 'a.work@1', 'a.validate@1']);
  },
);
