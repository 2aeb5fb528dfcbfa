/**
 * A route as data: what is asked, by whom, what it changes, and what is answered. From the table of
 * them come the server's routes, the OpenAPI description, the page of the API, and the tests of who
 * may do what.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type * as z from 'zod';
import type { Role } from '../config/index.ts';
import type { Revision } from '../store/index.ts';
import type { Desk } from './desk/desk.ts';
import type { Door, Visitor } from './door/door.ts';

export type Method = 'GET' | 'POST' | 'DELETE';

export interface Asked<Q = unknown, B = unknown> {
  readonly desk: Desk;
  readonly door: Door;
  /** Nobody is known only where a route is open. */
  readonly who: Visitor | undefined;
  /** What the path names: a run, a pod. */
  readonly id: string;
  readonly query: Q;
  readonly body: B;
  /** Names the change: sent again under the same name it is made once. */
  readonly requestId: string;
  /** Whether its sender gave it that name, and may send it again. */
  readonly isNamed: boolean;
  /** Only if it is still like this. */
  readonly ifRevision: Revision | undefined;
  readonly isRevealing: boolean;
  readonly address: string;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

export interface Answer {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

export interface Route<
  Q extends z.ZodRawShape = z.ZodRawShape,
  B extends z.ZodRawShape = z.ZodRawShape,
> {
  readonly method: Method;
  /** Below /api/v1; ':id' stands for one name. */
  readonly path: string;
  /** `open`: also for those who are not known, to become so. */
  readonly role: Role | 'open';
  /** `act`: something of the fleet, with a row in the audit log. */
  readonly changes: 'none' | 'act' | 'session';
  /** It shows payloads as they are: where they are masked that takes the role to reveal, and is audited. */
  readonly reveals?: true | undefined;
  readonly summary: string;
  readonly query: Q;
  /** Undefined where no body is read. */
  readonly body?: B | undefined;
  readonly answers: {
    readonly status: number;
    readonly schema: z.ZodType;
    /** In the same shape, where it comes out otherwise. */
    readonly also?: { readonly [status: number]: string } | undefined;
  };
  /** Undefined where it has taken the response over, and goes on with it. */
  answer(
    asked: Asked<z.infer<z.ZodObject<Q>>, z.infer<z.ZodObject<B>>>,
  ): Promise<Answer | undefined>;
}

export const PREFIX = '/api/v1';

/** Keeps the types of a route's query and body together while it is written down. */
export function route<Q extends z.ZodRawShape, B extends z.ZodRawShape>(made: Route<Q, B>): Route {
  return made as unknown as Route;
}

export function ok(body: unknown, headers?: Readonly<Record<string, string>>): Answer {
  return { status: 200, body, headers };
}
