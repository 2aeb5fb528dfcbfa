/** A part of a page that stands for itself: if it breaks, the others stay. */
import { Component, type ReactNode } from 'react';
import type { ApiError } from '../services/api.ts';
import { NotLoadedError } from './later.ts';

interface BoundaryProps {
  readonly name: string;
  readonly children: ReactNode;
}

export class Boundary extends Component<BoundaryProps, { readonly error: Error | undefined }> {
  override state: { readonly error: Error | undefined } = { error: undefined };

  static getDerivedStateFromError(error: Error) {
    return { error };
  }

  override render() {
    const { error } = this.state;
    if (!error) return this.props.children;
    // What did not come once is not asked for again by the browser: only a new page asks.
    const isLost = error instanceof NotLoadedError;
    const again = () => (isLost ? location.reload() : this.setState({ error: undefined }));
    return (
      <div className="refusal" role="alert">
        <p>
          <strong>{this.props.name} cannot be shown.</strong> {error.message}
        </p>
        <button type="button" onClick={again}>
          {isLost ? 'Load the page anew' : 'Try again'}
        </button>
      </div>
    );
  }
}

interface PanelProps {
  readonly title: string;
  readonly aside?: ReactNode;
  readonly className?: string;
  readonly children: ReactNode;
}

export function Panel({ title, aside, className = '', children }: PanelProps) {
  return (
    <section className={`panel ${className}`} aria-label={title}>
      <header className="panel-head">
        <h2>{title}</h2>
        {aside}
      </header>
      <Boundary name={title}>{children}</Boundary>
    </section>
  );
}

/** What the server said, and what to do about it. */
export function Refusal({ error, onAgain }: { error: ApiError; onAgain?: () => void }) {
  return (
    <div className="refusal" role="alert">
      <p>
        <strong>{error.message}</strong> <code>{error.code}</code>
      </p>
      {error.hint && <p className="quiet">{error.hint}</p>}
      {onAgain && (
        <button type="button" onClick={onAgain}>
          Try again
        </button>
      )}
    </div>
  );
}

export function Loading({ what }: { what: string }) {
  return (
    <p className="loading" role="status">
      Loading {what}…
    </p>
  );
}
