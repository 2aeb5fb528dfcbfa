/** Small signs, drawn by hand on a grid of twelve: a status is told by its shape before its colour. */
import type { Kind } from '../format/words.ts';

const STATUS_PATH: Record<Kind, string> = {
  pending: 'M6 2.2a3.8 3.8 0 1 0 0 7.6a3.8 3.8 0 0 0 0-7.6z',
  waiting: 'M6 1.8a4.2 4.2 0 1 0 0 8.4a4.2 4.2 0 0 0 0-8.4zM6 3.6V6l1.8 1.2',
  running: 'M3.6 2.2v7.6L9.8 6z',
  blocked: 'M6 1.8L10.6 9.8H1.4zM6 4.6v2.4M6 8.3v.3',
  paused: 'M4 2.4v7.2M8 2.4v7.2',
  quarantined: 'M6 1.4L10 3v3c0 2.4-1.7 3.9-4 4.6C3.7 9.9 2 8.4 2 6V3zM4.4 6h3.2',
  completed: 'M2.2 6.4l2.6 2.6L9.8 3.4',
  handedOff: 'M1.8 6h6M5.4 3.2L8.2 6L5.4 8.8M10.2 2.6v6.8',
  failed: 'M3 3l6 6M9 3L3 9',
  cancelled: 'M6 1.8a4.2 4.2 0 1 0 0 8.4a4.2 4.2 0 0 0 0-8.4zM3.2 8.8L8.8 3.2',
};

const SIGN_PATH = {
  runs: 'M2 3h8M2 6h8M2 9h5',
  errors: 'M6 1.6v5.2M6 9.6v.6M2 11h8',
  letters: 'M1.6 3h8.8v6.4H1.6zM1.8 3.2L6 6.6l4.2-3.4',
  bulk: 'M2 4.2L6 2l4 2.2L6 6.4zM2 6.4l4 2.2l4-2.2M2 8.6l4 2.2l4-2.2',
  activity: 'M1.4 6h2.2l1.6-3.8l2 7.6L8.8 6h1.8',
  open: 'M7 2h3v3M10 2L5.6 6.4M8.6 7v3H2V3.4h3',
  search: 'M5 1.8a3.2 3.2 0 1 0 0 6.4a3.2 3.2 0 0 0 0-6.4zM7.4 7.4L10.4 10.4',
  copy: 'M4.2 4.2h5.6v5.6H4.2zM7.8 4.2V2.2H2.2v5.6h2',
  close: 'M3 3l6 6M9 3L3 9',
  back: 'M7.4 2.4L3.8 6l3.6 3.6',
  keys: 'M1.4 3h9.2v6H1.4zM3.2 5h.2M5 5h.2M6.9 5h.2M8.7 5h.2M4 7.2h4',
  leave: 'M7 2H2.4v8H7M5 6h5.6M8.6 4l2 2l-2 2',
  overview: 'M1.6 9.8V6.4M4.6 9.8V2.2M7.6 9.8V5M10.6 9.8V3.4',
  machines: 'M1.4 6h1.4M9.2 6h1.4M2.8 4.2h2.6v3.6H2.8zM6.8 4.2h2.4v3.6H6.8zM5.4 6h1.4',
  pods: 'M2 2.2h8v3H2zM2 6.8h8v3H2zM3.8 3.7h.2M3.8 8.3h.2',
  throttles: 'M2 9.2a4.6 4.6 0 1 1 8 0M6 7.2L8.4 4.2M6 7.2v.2',
  queues: 'M1.6 2.4h8.8M1.6 5h6.4M1.6 7.6h4M9.6 6.4v4M7.8 8.8l1.8 1.8l1.8-1.8',
  schedules: 'M6 1.6a4.4 4.4 0 1 0 0 8.8a4.4 4.4 0 0 0 0-8.8zM6 3.4V6h2.4',
  crown: 'M1.6 9.4h8.8L11 3.6L8.2 5.6L6 2.4L3.8 5.6L1 3.6z',
  up: 'M2.4 6.6l2.4 2.4l4.8-5.4',
  drain: 'M6 2v6.4M3.4 5.8L6 8.4l2.6-2.6M2.4 10.2h7.2',
  doubt: 'M4.2 4.2a1.9 1.9 0 1 1 2.6 1.8c-.6.3-.8.7-.8 1.3M6 9.3v.3',
  pause: 'M4 2.4v7.2M8 2.4v7.2',
  play: 'M3.6 2.2v7.6L9.8 6z',
  eye: 'M1 6c1.4-2.4 3-3.6 5-3.6S9.6 3.6 11 6c-1.4 2.4-3 3.6-5 3.6S2.4 8.4 1 6zM6 5.4v1.2',
} as const;
export type Sign = keyof typeof SIGN_PATH;

function Drawing({ path, className }: { path: string; className: string }) {
  return (
    <svg className={className} viewBox="0 0 12 12" width="12" height="12" aria-hidden="true">
      <path d={path} />
    </svg>
  );
}

export function StatusIcon({ kind }: { kind: Kind }) {
  return <Drawing path={STATUS_PATH[kind]} className={`icon icon-${kind}`} />;
}

export function Icon({ sign }: { sign: Sign }) {
  return <Drawing path={SIGN_PATH[sign]} className="icon" />;
}
