/** The run as a file, the same that `fleetq export` writes: to be looked at where nothing of it is. */
import { useState } from 'react';
import { Icon } from '../../components/icon.tsx';
import { toast } from '../../components/toast.tsx';
import { saveText } from '../../platform/save.ts';
import { getText } from '../../services/api.ts';
import { asApiError } from '../../services/use-load.ts';

export function Download({ id }: { id: string }) {
  const [isBusy, setBusy] = useState(false);
  const load = async () => {
    setBusy(true);
    try {
      const text = await getText(`/runs/${encodeURIComponent(id)}/export`);
      saveText(text, `${id}.run.json`);
      toast('Downloaded, with its payloads: give it to nobody who may not see them');
    } catch (thrown) {
      const { message, hint } = asApiError(thrown);
      toast(hint === undefined ? message : `${message}: ${hint}`, 'bad');
    } finally {
      setBusy(false);
    }
  };
  return (
    <button
      type="button"
      className="small"
      title="One file with all its records, as fleetq export writes it; read it with fleetq run --file"
      disabled={isBusy}
      onClick={load}
    >
      <Icon sign="drain" />
      Download
    </button>
  );
}
