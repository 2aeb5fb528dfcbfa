/** What a request says, read with bounds: its query, and a body that is JSON and not too large. */
import type { IncomingMessage } from 'node:http';
import { type Json, show } from '../ground/index.ts';
import { badRequest, RequestError } from './problem.ts';

/** The body as JSON; refused before it is buffered where it says that it is too large. */
export async function readJson(request: IncomingMessage, bytesMax: number): Promise<Json> {
  const type = request.headers['content-type'] ?? 'application/json';
  if (!/^application\/json\b/i.test(type)) {
    throw new RequestError(415, 'FLEETQ_BAD_REQUEST', `the body must be JSON, got ${show(type)}`);
  }
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
  const text = decode(Buffer.concat(chunks));
  if (text.trim() === '') return {};
  try {
    return JSON.parse(text) as Json;
  } catch (cause) {
    throw badRequest(`the body is not JSON: ${(cause as Error).message}`);
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Bytes that are no text must not be journaled as other bytes than were sent. */
function decode(bytes: Buffer): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw badRequest('the body is not UTF-8');
  }
}

/** The body as an object with no other fields than `names`. */
export function fieldsOf(body: Json, names: readonly string[]): Readonly<Record<string, unknown>> {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw badRequest(`the body must be an object, got ${show(body)}`);
  }
  const unknown = Object.keys(body).find((name) => !names.includes(name));
  if (unknown !== undefined) {
    throw badRequest(
      `the body has an unknown field ${show(unknown)}`,
      `known: ${names.join(', ')}`,
    );
  }
  return body as Record<string, unknown>;
}

export function textOf(value: unknown, name: string): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string' && value !== '') return value;
  throw badRequest(`${name} must be text, got ${show(value)}`);
}

/** A whole number in the query, within bounds; `otherwise` where it is not there. */
export function countOf(
  query: URLSearchParams,
  name: string,
  bounds: { readonly min: number; readonly max: number; readonly otherwise: number },
): number {
  const text = query.get(name);
  if (text === null) return bounds.otherwise;
  const value = /^-?\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= bounds.min && value <= bounds.max) return value;
  throw badRequest(
    `${name} must be a whole number from ${bounds.min} to ${bounds.max}, got ${show(text)}`,
  );
}
