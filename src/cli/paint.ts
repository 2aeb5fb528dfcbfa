/** Colours, where the stream is a terminal that wants them. */
import { styleText } from 'node:util';
import type { Io, OutStream } from './io.ts';

export type Style = Parameters<typeof styleText>[0];
export type Paint = (style: Style, text: string) => string;

/** Whether a stream is a terminal that wants colours: NO_COLOR and FORCE_COLOR are heeded. */
export function wantsColour(
  stream: Pick<OutStream, 'isTTY'>,
  { NO_COLOR, FORCE_COLOR }: Io['env'],
): boolean {
  return FORCE_COLOR ? FORCE_COLOR !== '0' : stream.isTTY === true && !NO_COLOR;
}

export function painterFor(stream: Pick<OutStream, 'isTTY'>, env: Io['env']): Paint {
  // The decision is made here: left to itself, styleText would look at stdout for stderr as well.
  return wantsColour(stream, env)
    ? (style, text) => styleText(style, text, { validateStream: false })
    : (_, text) => text;
}
