/**
 * Which site a browser came from. Pages of other sites may send requests to any address that the
 * browser can reach, this one included: by a form, a script, or a name of their own that leads here
 * (DNS rebinding). None of them gets in.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { show } from '../../ground/index.ts';
import { RequestError } from '../problem.ts';

/** What a browser says of a request that its own page made, or its user typed. */
const OWN_SITES = ['same-origin', 'none'];

export function isLoopback(host: string): boolean {
  const name = host.replaceAll(/[[\]]/g, '').toLowerCase();
  if (name === 'localhost' || name === '::1') return true;
  return /^127(\.\d{1,3}){3}$/.test(name.replace(/^::ffff:/, ''));
}

/** `hosts`: names under which this process is known; with none, and no need of one, any name will do. */
export function refuseForeignHost(
  header: string | undefined,
  hosts: readonly string[],
  isLoopbackOnly: boolean,
): void {
  if (hosts.length === 0 && !isLoopbackOnly) return;
  const name = nameOf(header ?? '');
  if (name !== undefined && (isLoopback(name) || hosts.includes(name))) return;
  throw new RequestError(
    403,
    'FLEETQ_BAD_HOST',
    `this is not ${show(header ?? '')}`,
    'ask by a loopback address, or list the name under `hosts` (FLEETQ_HOSTS)',
  );
}

const FORWARDED = /^(forwarded|via|x-real-ip|x-forwarded-.*)$/;

/** What a proxy passes on comes from anywhere, and only seems to come from this host. */
export function refuseForwarded(headers: IncomingHttpHeaders): void {
  const by = Object.keys(headers).find((name) => FORWARDED.test(name));
  if (by === undefined) return;
  throw new RequestError(
    403,
    'FLEETQ_BAD_HOST',
    `without tokens only this host is answered, and a proxy has passed this on (${by})`,
    'make a token with: fleetq token new',
  );
}

export function refuseCrossSite(headers: IncomingHttpHeaders): void {
  const site = headers['sec-fetch-site'];
  const { origin } = headers;
  const isOwnSite = site === undefined || OWN_SITES.includes(String(site));
  if (isOwnSite && (origin === undefined || isOwnOrigin(origin, headers.host))) return;
  throw new RequestError(
    403,
    'FLEETQ_CROSS_SITE',
    `pages of other sites may not ask here (Origin ${show(origin ?? 'none')})`,
    'ask from a program, or from a page that came from here',
  );
}

/** The scheme may differ, where TLS ends at a proxy. */
function isOwnOrigin(origin: string, host: string | undefined): boolean {
  const found = /^https?:\/\/([^/]+)$/i.exec(origin)?.[1];
  return found !== undefined && host !== undefined && found.toLowerCase() === host.toLowerCase();
}

/** Without its port. */
function nameOf(host: string): string | undefined {
  return /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/i.exec(host)?.[1]?.toLowerCase();
}
