/** What the keys do. */
import { Dialog } from './dialog.tsx';

const KEYS: readonly (readonly [key: string, what: string])[] = [
  ['g o', 'Overview'],
  ['g r', 'Runs'],
  ['g m', 'Machines'],
  ['g p', 'Pods'],
  ['/', 'Search'],
  ['j  k', 'Next and previous row or event'],
  ['Enter', 'Open the row'],
  ['x', 'Select the row'],
  ['p', 'Pause or resume live updates'],
  ['t', 'Light, dark, or as the system'],
  ['z', 'Times: relative, local, UTC'],
  ['?', 'This help'],
  ['Esc', 'Close, or back to the list'],
];

export function Help({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keyboard" onClose={onClose}>
      <dl className="keys">
        {KEYS.map(([key, what]) => (
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
