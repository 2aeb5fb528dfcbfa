/**
 * What payloads pass through before they touch a disk or a wire: nothing by default, encryption if given.
 * A sealed text says by which key, so that whoever has not got it can tell that from damage:
 *
 *   fqs1.<key id>.<check of the key>.<nonce, sealed text and tag>
 */
import { FleetqError } from './errors.ts';

/** Where a text belongs: one that was sealed for another place is refused. */
export interface CodecPlace {
  /** The id of the run, which is that of its task. */
  readonly run: string;
  /** What it is of it: 'input', 'result 2', 'record 3 STARTED' … */
  readonly what: string;
}

export interface Codec {
  encode(text: string, place: CodecPlace): string;
  /** Texts that nobody has sealed come as well: from before there was a codec, or by plain INSERT. */
  decode(stored: string, place: CodecPlace): string;
  /** The same for the same text, and nothing by which whoever has no key could guess at it. */
  mac?(text: string, place: CodecPlace): string;
}

export const SEAL_PREFIX = 'fqs1.';

const SEALED = /^fqs1\.([A-Za-z0-9_-]{1,32})\.([0-9a-f]{8})\.([A-Za-z0-9_-]*)$/;

export interface Sealed {
  readonly key: string;
  /** Tells two keys of one name apart, and nothing else of them. */
  readonly check: string;
  readonly body: string;
}

/** The parts of a sealed text; undefined where it is none. */
export function sealedParts(text: string): Sealed | undefined {
  if (!text.startsWith(SEAL_PREFIX)) return undefined;
  const [, key, check, body] = SEALED.exec(text) ?? [];
  return key === undefined || check === undefined || body === undefined
    ? undefined
    : { key, check, body };
}

/** For people who have no key: what there is to say of it. Undefined where nothing is sealed. */
export function describeSealed(text: string): string | undefined {
  if (!text.startsWith(SEAL_PREFIX)) return undefined;
  const key = sealedParts(text)?.key;
  const bytes = `${Buffer.byteLength(text)} bytes`;
  return key === undefined ? `a damaged seal, ${bytes}` : `sealed with key ${key}, ${bytes}`;
}

/** The text is whole as far as can be told; the key that opens it is not here. */
export class KeyMissingError extends FleetqError {
  readonly code = 'FLEETQ_KEY_MISSING';
  readonly verdict = 'retry';
  readonly key: string;
  constructor(key: string, { run, what }: CodecPlace, isOther = false) {
    super(
      isOther
        ? `${what} of ${run} is sealed with another key than the one called ${key} here`
        : `${what} of ${run} is sealed with key ${key}, which is not here`,
      { hint: `give this process the key ${key} with FLEETQ_CODEC_KEYS or FLEETQ_CODEC_KEYS_FILE` },
    );
    this.key = key;
  }
}

/** Seals nothing, and says of what others have sealed that it has no key for it. */
export const identityCodec: Codec = {
  encode: (text) => text,
  decode: (stored, place) => {
    if (!stored.startsWith(SEAL_PREFIX)) return stored;
    const key = sealedParts(stored)?.key;
    throw key === undefined ? new SealBrokenError(place) : new KeyMissingError(key, place);
  },
};

/** The key is here and does not open it: the text was changed, or belongs elsewhere. */
export class SealBrokenError extends FleetqError {
  readonly code = 'FLEETQ_SEAL_BROKEN';
  readonly verdict = 'abort';
  constructor({ run, what }: CodecPlace, cause?: unknown) {
    super(`${what} of ${run} cannot be opened: it was changed, or belongs elsewhere`, {
      ...(cause === undefined ? {} : { cause }),
      hint: 'restore the row from a backup; a sealed text opens only where it was written',
    });
  }
}

/** Keys that are none. What they look like is not told. */
export class CodecKeysError extends FleetqError {
  readonly code = 'FLEETQ_CODEC_KEYS';
  readonly verdict = 'abort';
  constructor(message: string) {
    super(message, { hint: 'make a key with: fleetq codec new-key' });
  }
}

/** The error that says a key is missing, of this one and its causes; undefined where it is another. */
export function keyMissingIn(thrown: unknown): KeyMissingError | undefined {
  let error = thrown;
  for (let depth = 0; depth < 5; depth++) {
    if (error instanceof KeyMissingError) return error;
    if (!(error instanceof Error)) return undefined;
    error = error.cause;
  }
  return undefined;
}
