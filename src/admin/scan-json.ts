/**
 * How deep and how wide a JSON text is, found out before it is parsed: one pass over its bytes that
 * builds nothing. It need not be JSON; then it is refused a moment later.
 */
import { badRequest } from './problem.ts';

export interface JsonLimits {
  readonly depthMax: number;
  /** Properties of all objects, together. */
  readonly keysMax: number;
}

const [QUOTE, BACKSLASH, COLON] = [0x22, 0x5c, 0x3a];
const [OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET] = [0x7b, 0x7d, 0x5b, 0x5d];

export function refuseWild(bytes: Uint8Array, { depthMax, keysMax }: JsonLimits): void {
  let [depth, keys, isText] = [0, 0, false];
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (isText) {
      if (byte === BACKSLASH) at++;
      else if (byte === QUOTE) isText = false;
      continue;
    }
    if (byte === QUOTE) isText = true;
    else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      depth++;
      if (depth > depthMax) throw badRequest(`the body is nested deeper than ${depthMax} levels`);
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) depth--;
    else if (byte === COLON) {
      keys++;
      if (keys > keysMax) throw badRequest(`the body has more than ${keysMax} properties`);
    }
  }
}
