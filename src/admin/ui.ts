/**
 * The pages for people: files that the build has made, read once and served from memory. What is not
 * in that list cannot be asked for, whatever its path says. A path that names no file is a page of the
 * app, and gets the one document there is, with a base that leads back to where the app begins.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { HEADERS } from './answer-headers.ts';

interface File {
  readonly type: string;
  readonly bytes: Buffer;
  readonly zipped: Buffer;
}

export interface Ui {
  /** Whether the request is one for a page or a file, which is answered then. */
  answer(path: string, request: FastifyRequest, reply: FastifyReply): boolean;
}

/** Beside the built server, and beside the sources while it is tested. */
const PLACES = ['../admin-ui/', '../../dist/admin-ui/'];

const TYPES: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
};

/** Nothing but our own files is loaded, run or asked, and no text becomes a script. */
const POLICY = [
  "default-src 'none'",
  ...['script', 'style', 'img', 'connect'].map((what) => `${what}-src 'self'`),
  "base-uri 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

const PAGE_HEADERS = { ...HEADERS, 'content-security-policy': POLICY };
/** Their names change with what is in them. */
const ASSET_HEADERS = { ...PAGE_HEADERS, 'cache-control': 'public, max-age=31536000, immutable' };
const BASE = '<base href="./" />';
const DEPTH_MAX = 20;

/** Undefined where the pages were not built. */
export function openUi(): Ui | undefined {
  const place = PLACES.map((each) => fileURLToPath(new URL(each, import.meta.url))).find((each) =>
    existsSync(`${each}index.html`),
  );
  if (place === undefined) return undefined;
  const page = readFileSync(`${place}index.html`, 'utf8');
  const files = new Map(
    readdirSync(`${place}assets`).map((name) => [
      `/assets/${name}`,
      fileOf(`${place}assets`, name),
    ]),
  );
  return {
    answer: (path, request, reply) => {
      if (request.method !== 'GET' && request.method !== 'HEAD') return false;
      // Whoever asks the API for what it has not must not be told that all is well.
      if (/^\/api(\/|$)/.test(path)) return false;
      const file = files.get(path);
      if (file) send(reply.headers(ASSET_HEADERS), file, request);
      else if (path.startsWith('/assets/') || !isForPeople(path, request)) return false;
      else send(reply.headers(PAGE_HEADERS), pageAt(page, path), request);
      return true;
    },
  };
}

/** Browsers say that they want a page; a program that has mistyped a path wants to be told. */
function isForPeople(path: string, { headers }: FastifyRequest): boolean {
  return path === '/' || /\btext\/html\b/.test(headers.accept ?? '');
}

export function pathOf(request: FastifyRequest): string {
  return request.raw.url?.split('?')[0] ?? '/';
}

/** In an app of somebody else's, below the prefix that `instance` was given. */
export function mountUi(instance: FastifyInstance): void {
  const ui = openUi();
  const handler = (request: FastifyRequest, reply: FastifyReply) => {
    const path = pathOf(request).slice(instance.prefix.length);
    // Without the slash everything relative would lead out of the prefix.
    if (path === '') return reply.redirect(`${instance.prefix}/`);
    return ui?.answer(path, request, reply) ? reply : reply.callNotFound();
  };
  instance.get('/', handler);
  instance.get('/*', handler);
}

function fileOf(place: string, name: string): File {
  return madeOf(readFileSync(`${place}/${name}`), TYPES[name.split('.').at(-1)!] ?? 'text/plain');
}

function madeOf(bytes: Buffer, type: string): File {
  return { type, bytes, zipped: gzipSync(bytes) };
}

/** Relative, so that it holds behind any prefix that a proxy or an app puts before it. */
function pageAt(page: string, path: string): File {
  const depth = Math.min(path.split('/').length - 2, DEPTH_MAX);
  const base = depth <= 0 ? './' : '../'.repeat(depth);
  return madeOf(Buffer.from(page.replace(BASE, `<base href="${base}" />`)), TYPES['html']!);
}

function send(reply: FastifyReply, { type, bytes, zipped }: File, request: FastifyRequest): void {
  const isZipped = /\bgzip\b/.test(request.headers['accept-encoding'] ?? '');
  reply.type(type).header('vary', 'accept-encoding');
  if (isZipped) reply.header('content-encoding', 'gzip');
  const body = isZipped ? zipped : bytes;
  reply.header('content-length', body.length);
  reply.send(request.method === 'HEAD' ? undefined : body);
}
