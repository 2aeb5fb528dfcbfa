/** What payloads pass through before they touch the disk: nothing by default, encryption if given. */
export interface Codec {
  encode(text: string): string;
  decode(stored: string): string;
}

export const identityCodec: Codec = { encode: (text) => text, decode: (stored) => stored };
