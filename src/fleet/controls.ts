/** What people ask of tasks in hand, as every heartbeat tells it until it is done. */
import type { Engine } from '../engine/index.ts';
import type { Control } from '../store/index.ts';
import type { Holdings } from './holdings.ts';

export function followControls(
  controls: readonly Control[],
  { engine, holdings }: { readonly engine: Engine; readonly holdings: Holdings },
): void {
  for (const { task, epoch, control, reason } of controls) {
    const held = holdings.get(task);
    // What is on its way to the store as ended, parked or released is no longer here to be changed.
    if (held?.epoch !== epoch || held.isOver) continue;
    if (control === 'cancel') engine.cancel(task, reason).catch(() => undefined);
    else if (engine.held.sendAway(task)) held.isPausing = true;
  }
}
