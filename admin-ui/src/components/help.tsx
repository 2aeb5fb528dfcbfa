/** What the keys do. */
import { Dialog } from './dialog.tsx';
import type { Listed } from './frame.tsx';

const KEYS: readonly (readonly [key: string, what: string])[] = [
  ['Ctrl K', 'Go anywhere, do anything'],
  ['/', 'Search'],
  ['j  k', 'Next and previous row or event'],
  ['Enter', 'Open the row'],
  ['x  X', 'Select the row; all that match'],
  ['b', 'Act on what is selected'],
  ['i', 'Look into the row, beside the list'],
  ['r  e', 'Redrive it; edit and redrive it'],
  ['s', 'Pause a bulk operation, queue or schedule, or let it go on'],
  ['n', 'Run a schedule now'],
  ['f  u', 'Fix the limit of an API or a queue; let go of it'],
  ['p', 'Pause or resume live updates'],
  ['t', 'Light, dark, or as the system'],
  ['z', 'Times: relative, local, UTC'],
  ['?', 'This help'],
  ['Esc', 'Close, or back to the list'],
];

export function Help({ pages, onClose }: { pages: readonly Listed[]; onClose: () => void }) {
  const keys = [...pages.map(({ key, name }) => [key, name] as const), ...KEYS];
  return (
    <Dialog title="Keyboard" onClose={onClose}>
      <dl className="keys">
        {keys.map(([key, what]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
