/** A dialog of the browser's own: it keeps the focus in, closes on Escape, and gives the focus back. */
import { type ReactNode, useId, useLayoutEffect, useRef } from 'react';
import { Icon } from './icon.tsx';

interface DialogProps {
  readonly title: string;
  /** What is asked for comes first, and the way out after it. */
  readonly isFieldFirst?: boolean;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

export function Dialog({ title, isFieldFirst = false, onClose, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  // Closed before it is taken out of the page: the browser gives the focus back only then.
  useLayoutEffect(() => {
    const element = dialog.current!;
    element.showModal();
    if (isFieldFirst) element.querySelector('input')?.focus();
    return () => element.close();
  }, [isFieldFirst]);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape does what a click beside it does
    <dialog
      ref={dialog}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => {
        if (event.target === dialog.current) onClose();
      }}
    >
      <div className="dialog-body">
        <header>
          <h2 id={id}>{title}</h2>
          <button type="button" className="ghost small" aria-label="Close" onClick={onClose}>
            <Icon sign="close" />
          </button>
        </header>
        {children}
      </div>
    </dialog>
  );
}
