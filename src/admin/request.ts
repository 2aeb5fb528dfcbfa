/** What a request says, read with bounds: its query, and a body that is JSON and not too large. */
import type { IncomingMessage } from 'node:http';
import * as z from 'zod';
import { nearest } from '../config/index.ts';
import { type Json, roundedIn, show } from '../ground/index.ts';
import { badRequest, RequestError } from './problem.ts';
import { type JsonLimits, refuseWild } from './scan-json.ts';

export interface BodyLimits extends JsonLimits {
  readonly bytesMax: number;
  /** Whether a body may come without saying what it is. */
  readonly mayBeUntyped: boolean;
}

/** The body as JSON; refused before it is buffered where it says that it is too large. */
export async function readJson(request: IncomingMessage, limits: BodyLimits): Promise<Json> {
  const { bytesMax } = limits;
  refuseType(request, limits);
  const tooLarge = () =>
    new RequestError(413, 'FLEETQ_TOO_LARGE', `the body is larger than ${bytesMax} bytes`);
  if (Number(request.headers['content-length'] ?? 0) > bytesMax) throw tooLarge();
  const chunks: Buffer[] = [];
  let bytes = 0;
  // Not destroyed when it is left early: the refusal has to travel on the same connection.
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    bytes += chunk.length;
    if (bytes > bytesMax) throw tooLarge();
    chunks.push(chunk);
  }
  const whole = Buffer.concat(chunks);
  refuseWild(whole, limits);
  const text = decode(whole);
  if (text.trim() === '') return {};
  refuseRounded(text);
  try {
    return JSON.parse(text) as Json;
  } catch (cause) {
    throw badRequest(`the body is not JSON: ${(cause as Error).message}`);
  }
}

function refuseRounded(text: string): void {
  const rounded = roundedIn(text);
  if (rounded === undefined) return;
  throw badRequest(
    `the number ${rounded.slice(0, 40)} is beyond 2^53, and would be rounded`,
    'write it as a text: its digits stay what they are',
  );
}

/** Forms of other sites can send any body but one that says it is JSON. */
function refuseType({ headers }: IncomingMessage, { mayBeUntyped }: BodyLimits): void {
  const hasBody = headers['transfer-encoding'] !== undefined || headers['content-length'] !== '0';
  const isSilent = headers['content-length'] === undefined && !headers['transfer-encoding'];
  const type = headers['content-type'] ?? (mayBeUntyped || isSilent || !hasBody ? JSON_TYPE : '');
  if (/^application\/json *(;|$)/i.test(type)) return;
  throw new RequestError(
    415,
    'FLEETQ_BAD_REQUEST',
    `the body must be JSON, got ${show(type)}`,
    'send content-type: application/json',
  );
}

const JSON_TYPE = 'application/json';
const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Bytes that are no text must not be journaled as other bytes than were sent. */
function decode(bytes: Buffer): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw badRequest('the body is not UTF-8');
  }
}

/** What is in the address behind the question mark; a name that is there twice is refused. */
export function queryOf(url: string): Record<string, string> {
  const cut = url.indexOf('?');
  const query: Record<string, string> = Object.create(null);
  if (cut < 0) return query;
  for (const [name, value] of new URLSearchParams(url.slice(cut + 1))) {
    if (name in query) throw badRequest(`the query has ${show(name)} twice`);
    query[name] = value;
  }
  return query;
}

/** `given` as `shape` wants it; what is unknown or wrong is told by its name. */
export function fitted<S extends z.ZodRawShape>(
  given: unknown,
  shape: S,
  what: 'the query' | 'the body',
): z.infer<z.ZodObject<S>> {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw badRequest(`${what} must be an object, got ${show(given)}`);
  }
  const names = Object.keys(shape);
  const unknown = Object.keys(given).find((name) => !names.includes(name));
  if (unknown !== undefined) {
    const near = nearest(unknown, names);
    const known = names.length === 0 ? 'it takes none' : `known: ${names.join(', ')}`;
    const kind = what === 'the query' ? 'parameter' : 'field';
    throw badRequest(
      `${what} has an unknown ${kind} ${show(unknown)}`,
      near === undefined ? known : `did you mean ${near}? ${known}`,
    );
  }
  const parsed = z.object(shape).safeParse(given);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const path = issue?.path.join('.') ?? '';
  const value = issue?.path.reduce<unknown>((at, key) => Object(at)[key], given);
  // Of what is missing the message has said so.
  const got = value === undefined ? '' : `; got ${show(value)}`;
  throw badRequest(`${path} in ${what} does not fit: ${issue?.message}${got}`);
}
