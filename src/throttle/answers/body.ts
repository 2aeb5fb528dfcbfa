/** Answers over HTTP: headers come long before a streamed one is over, and until then a call goes on. */
import type { UnderlyingSource } from 'node:stream/web';
import type { Clock } from '../../ground/index.ts';

/** A body that nobody reads holds its permit no longer than this. */
const BODY_MS_MAX = 10 * 60_000;
/** So much of it is read ahead: of a short answer nobody has to read the body. */
const BODY_AHEAD = new ByteLengthQueuingStrategy({ highWaterMark: 64 * 1024 });

export interface Reading {
  /** Its body was read, or nobody wants any more of it. */
  over(): void;
  /** Its body broke off. */
  broken(error: unknown): void;
}

/** The same answer; it is told once how the reading of it ends. */
export function whenRead(response: Response, clock: Clock, reading: Reading): Response {
  // A classify may have begun to read it.
  if (!response.body || response.body.locked) {
    reading.over();
    return response;
  }
  const cancel = clock.after(BODY_MS_MAX, () => reading.over(), { idle: true });
  const end = () => {
    cancel();
    reading.over();
  };
  const reader = response.body.getReader();
  const source: UnderlyingSource<Uint8Array> = {
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (!done) return controller.enqueue(value);
        end();
        controller.close();
      } catch (error) {
        cancel();
        reading.broken(error);
        controller.error(error);
      }
    },
    async cancel(reason) {
      end();
      await reader.cancel(reason);
    },
  };
  return answerLike(response, new ReadableStream(source, BODY_AHEAD));
}

/**
 * The answer that a call had no room by. Read ahead where it is still to be read: a body that nobody
 * reads would keep its connection, and refusals may be many.
 */
export function readAhead(answer: unknown, clock: Clock): unknown {
  if (!(answer instanceof Response)) return answer;
  return whenRead(answer, clock, { over: () => undefined, broken: () => undefined });
}

/** `fetch` gives what no Response can be made with: an odd status, odd words, and where it came from. */
function answerLike(response: Response, body: ReadableStream): Response {
  const { status, statusText, headers, url, redirected, ok, type } = response;
  const isUsual = status >= 200 && status <= 599;
  const made = new Response(body, { status: isUsual ? status : 200, headers });
  return Object.defineProperties(made, {
    statusText: { value: statusText },
    url: { value: url },
    redirected: { value: redirected },
    type: { value: type },
    clone: { value: () => answerLike(response, Response.prototype.clone.call(made).body!) },
    ...(isUsual ? {} : { status: { value: status }, ok: { value: ok } }),
  });
}
