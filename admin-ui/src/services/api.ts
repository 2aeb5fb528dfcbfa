/**
 * Questions to the API. A refusal comes as what the server said of it; a question that got no answer
 * is asked again, a change never is: whoever sent it decides.
 */
import { parseJson } from '../format/lossless.ts';
import { wait } from '../platform/clock.ts';
import { BASE } from '../router/router.tsx';

export const API = `${BASE}api/v1`;

export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly hint: string | undefined;
  constructor(status: number, code: string, message: string, hint?: string) {
    super(message);
    this.status = status;
    this.code = code;
    this.hint = hint;
  }
}

const RETRY_MS = [300, 1_200];
const RETRY_AFTER_MS_MAX = 5_000;
const AGAIN: readonly number[] = [429, 502, 503, 504];

let csrf: string | undefined;
let onUnknown: () => void = () => undefined;

/** What every change has to bear while a session stands. */
export function setCsrf(value: string | undefined): void {
  csrf = value;
}

/** Told when the server does not know us any more. */
export function whenUnknown(act: () => void): void {
  onUnknown = act;
}

/** Said by whoever was answered with a 401. */
export function tellUnknown(): void {
  onUnknown();
}

export function queryText(query: Readonly<Record<string, string | number | undefined>>): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [[name, `${value}`]],
  );
  return pairs.length === 0 ? '' : `?${new URLSearchParams(pairs)}`;
}

export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  for (let tried = 0; ; tried++) {
    try {
      return await ask<T>('GET', path, signal ? { signal } : {});
    } catch (error) {
      const isWorthIt = error instanceof ApiError && AGAIN.includes(error.status || 503);
      if (!isWorthIt || tried >= RETRY_MS.length || signal?.aborted) throw error;
      await wait(RETRY_MS[tried]!, signal);
    }
  }
}

export interface ChangeOptions {
  readonly body?: object | undefined;
  readonly ifRevision?: string | undefined;
  readonly requestId?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export function change<T>(
  method: 'POST' | 'DELETE',
  path: string,
  { body, ifRevision, requestId, signal }: ChangeOptions = {},
): Promise<T> {
  const headers: Record<string, string> = {};
  if (body !== undefined) headers['content-type'] = 'application/json';
  if (csrf !== undefined) headers['x-fleetq-csrf'] = csrf;
  if (ifRevision !== undefined) headers['if-match'] = `"${ifRevision}"`;
  if (requestId !== undefined) headers['idempotency-key'] = requestId;
  const text = body === undefined ? {} : { body: JSON.stringify(body) };
  return ask<T>(method, path, { headers, ...text, ...(signal ? { signal } : {}) });
}

async function ask<T>(method: string, path: string, init: RequestInit): Promise<T> {
  return parseJson(await getText(path, { ...init, method })) as T;
}

/** As it came: what is kept as a file must not be written anew. */
export async function getText(path: string, init: RequestInit = {}): Promise<string> {
  const answer = await reach(init.method ?? 'GET', path, init);
  const text = await answer.text();
  if (answer.ok) return text;
  const problem = problemOf(answer, text);
  if (answer.status === 401) onUnknown();
  throw problem;
}

async function reach(method: string, path: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(API + path, { ...init, method, credentials: 'same-origin' });
  } catch (cause) {
    if (init.signal?.aborted) throw cause;
    throw new ApiError(
      0,
      'UNREACHABLE',
      'the server does not answer',
      'is the process still up? This page tries again when you ask it to',
    );
  }
}

function problemOf(answer: Response, text: string): ApiError {
  try {
    const { code, detail, hint } = JSON.parse(text) as Record<string, string>;
    return new ApiError(answer.status, code ?? 'UNKNOWN', detail ?? answer.statusText, hint);
  } catch {
    // Of a proxy between, which knows nothing of our errors.
    return new ApiError(answer.status, 'UNKNOWN', `the answer was ${answer.status}`);
  }
}

/** How long a server wants to be left alone. */
export function retryAfterMs(answer: Response): number | undefined {
  const seconds = Number(answer.headers.get('retry-after') ?? Number.NaN);
  return Number.isFinite(seconds) ? Math.min(seconds * 1_000, RETRY_AFTER_MS_MAX) : undefined;
}
