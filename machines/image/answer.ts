/** What a server's answer says, and what to make of one that is not the file. */
import { abort, retryAfter } from 'fleetq';

const BUSY_DELAY_MS = 5_000;
const BUSY_DELAY_MS_MAX = 300_000;

export function refuseStatus(response: Response, url: string): void {
  const { status } = response;
  if (status === 429 || status === 503) {
    const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
    const delayMs = Number.isFinite(seconds) ? seconds * 1_000 : BUSY_DELAY_MS;
    retryAfter(Math.min(Math.max(delayMs, 0), BUSY_DELAY_MS_MAX), `${shown(url)} said ${status}`);
  }
  if ([400, 401, 403, 404, 410].includes(status)) {
    abort(`${shown(url)} answered ${status}: wanted an archive; check the address`, {
      kind: 'user',
    });
  }
  if (status !== 200 && status !== 206) throw new Error(`${shown(url)} answered ${status}`);
  const encoding = response.headers.get('content-encoding') ?? 'identity';
  if (encoding !== 'identity') {
    throw new Error(`${shown(url)} sent ${encoding} where the plain file was asked for`);
  }
}

export function refuseSize(url: string, bytesMax: number): never {
  abort(`${shown(url)} is larger than the ${bytesMax} bytes an archive may have`, { kind: 'user' });
}

export function rangeOf(response: Response): string {
  return response.headers.get('content-range') ?? 'no content-range';
}
export function startOf(response: Response): number | undefined {
  return numberIn(/^bytes (\d+)-/.exec(rangeOf(response)));
}
export function totalOf(response: Response): number | undefined {
  return numberIn(/\/(\d+)$/.exec(rangeOf(response)));
}
export function lengthOf(response: Response): number | undefined {
  return numberIn(/^(\d+)$/.exec(response.headers.get('content-length') ?? ''));
}
function numberIn(match: RegExpExecArray | null): number | undefined {
  return match ? Number(match[1]) : undefined;
}

/** An address without its query, which may hold a secret: errors are journaled. */
export function shown(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}
