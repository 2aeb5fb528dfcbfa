/** Machines of which nobody takes a task, by whom that was said, and how they go on. */
import { Panel } from '../../components/panel.tsx';
import { Link } from '../../router/router.tsx';
import type { PausedMachine } from '../../services/fleet-types.ts';
import type { What } from './flow.ts';
import { Paused } from './queues-table.tsx';

interface PausedProps {
  readonly machines: readonly PausedMachine[];
  readonly mayOperate: boolean;
  readonly onWish: (what: What, name?: string) => void;
}

export function PausedMachines({ machines, mayOperate, onWish }: PausedProps) {
  const aside = mayOperate && (
    <button type="button" className="small" onClick={() => onWish('machine.pause')}>
      Pause a machine
    </button>
  );
  return (
    <Panel title="Paused machines" aside={aside}>
      {machines.length === 0 ? (
        <p className="nothing">No machine is paused.</p>
      ) : (
        <div className="data-scroll">
          <table className="data">
            <thead>
              <tr>
                <th scope="col">Machine</th>
                <th scope="col">State</th>
                {mayOperate && (
                  <th scope="col">
                    <span className="offscreen">What to do</span>
                  </th>
                )}
              </tr>
            </thead>
            <tbody>
              {machines.map(({ machine, pausedBy, pausedAt }) => (
                <tr key={machine}>
                  <td>
                    <Link to={`/machines/${encodeURIComponent(machine)}`} className="queue-name">
                      {machine}
                    </Link>
                  </td>
                  <td>
                    <Paused by={pausedBy} at={pausedAt} />
                  </td>
                  {mayOperate && (
                    <td className="data-act">
                      <button
                        type="button"
                        className="small"
                        aria-label={`Resume ${machine}`}
                        onClick={() => onWish('machine.resume', machine)}
                      >
                        Resume
                      </button>
                    </td>
                  )}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Panel>
  );
}
