/** Answers over HTTP: headers come long before a streamed one is over, and until then a call goes on. */
import type { UnderlyingSource } from 'node:stream/web';
import type { Clock } from '../ground/index.ts';

/** A body that nobody reads holds its permit no longer than this. */
const BODY_MS_MAX = 10 * 60_000;
/** So much of it is read ahead: of a short answer nobody has to read the body. */
const BODY_AHEAD = new ByteLengthQueuingStrategy({ highWaterMark: 64 * 1024 });

/** The same answer; `release` is called when its body was read, or nobody wants any more of it. */
export function whenRead(response: Response, clock: Clock, release: () => void): Response {
  if (!response.body) {
    release();
    return response;
  }
  const cancel = clock.after(BODY_MS_MAX, release, { idle: true });
  const end = () => {
    cancel();
    release();
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
        end();
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
  if (!(answer instanceof Response) || answer.bodyUsed || answer.body?.locked) return answer;
  return whenRead(answer, clock, () => undefined);
}

/** `fetch` gives what no Response can be made with: an odd status, and where the answer came from. */
function answerLike(response: Response, body: ReadableStream): Response {
  const { status, statusText, headers, url, redirected, ok } = response;
  const isUsual = status >= 200 && status <= 599;
  const made = new Response(body, { status: isUsual ? status : 200, statusText, headers });
  return Object.defineProperties(made, {
    url: { value: url },
    redirected: { value: redirected },
    ...(isUsual ? {} : { status: { value: status }, ok: { value: ok } }),
  });
}
