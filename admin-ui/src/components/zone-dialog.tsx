/** Asks for the zone in which times are shown. */
import { useId, useMemo, useState } from 'react';
import { choose } from '../platform/settings.ts';
import { zoneNamed, zoneNames } from '../platform/zones.ts';
import { Dialog } from './dialog.tsx';

export function ZoneDialog({ onClose }: { onClose: () => void }) {
  const [zone, setZone] = useState('');
  const names = useMemo(zoneNames, []);
  const id = useId();
  const found = zoneNamed(zone.trim().replaceAll(' ', '_'));
  return (
    <Dialog title="Time zone" isFieldFirst onClose={onClose}>
      <form
        className="act"
        onSubmit={(event) => {
          event.preventDefault();
          if (found === undefined) return;
          choose({ times: found });
          onClose();
        }}
      >
        <label>
          <span>Zone</span>
          <input
            list={id}
            value={zone}
            placeholder="Europe/Berlin"
            autoComplete="off"
            spellCheck={false}
            onChange={(event) => setZone(event.target.value)}
          />
        </label>
        <datalist id={id}>
          {names.map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
        <p className="quiet" role="status">
          {found === undefined && zone !== ''
            ? 'No zone of that name: such as Europe/Berlin, or America/New_York.'
            : 'Pages show times as clocks there do; filters stay in UTC.'}
        </p>
        <div className="act-buttons">
          <button type="button" onClick={onClose}>
            Leave it
          </button>
          <button type="submit" className="primary" aria-disabled={found === undefined}>
            Use it
          </button>
        </div>
      </form>
    </Dialog>
  );
}
