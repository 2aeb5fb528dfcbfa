/** Colours, where the stream is a terminal that wants them. */
import { styleText } from 'node:util';

export type Style = Parameters<typeof styleText>[0];
export type Paint = (style: Style, text: string) => string;

/** Whether a stream is a terminal that wants colours: NO_COLOR and FORCE_COLOR are heeded. */
export function wantsColour(stream: { readonly isTTY?: boolean | undefined }): boolean {
  const { NO_COLOR, FORCE_COLOR } = process.env;
  return FORCE_COLOR ? FORCE_COLOR !== '0' : stream.isTTY === true && !NO_COLOR;
}

export function painterFor(stream: { readonly isTTY?: boolean | undefined }): Paint {
  // The decision is made here: left to itself, styleText would look at stdout for stderr as well.
  return wantsColour(stream)
    ? (style, text) => styleText(style, text, { validateStream: false })
    : (_, text) => text;
}
