/** A text with a button that copies it. */
import { copyText } from '../platform/copy.ts';
import { Icon } from './icon.tsx';
import { toast } from './toast.tsx';

export function CopyButton({ text, what }: { text: string; what: string }) {
  const copy = async () => {
    const isCopied = await copyText(text);
    toast(isCopied ? `Copied ${what}` : `Could not copy ${what}`, isCopied ? 'good' : 'bad');
  };
  return (
    <button
      type="button"
      className="ghost small"
      aria-label={`Copy ${what}`}
      title={`Copy ${what}`}
      onClick={copy}
    >
      <Icon sign="copy" />
    </button>
  );
}
