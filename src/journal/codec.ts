/** What records and endings pass through before they touch the disk, and what each of them is called. */
import { type Codec, type CodecPlace, describeSealed, KeyMissingError } from '../ground/index.ts';

export { type Codec, identityCodec } from '../ground/index.ts';

export function recordPlace(run: string, seq: number, type: string): CodecPlace {
  return { run, what: `record ${seq} ${type}` };
}

export function endingPlace(run: string, outcome: string): CodecPlace {
  return { run, what: `ending ${outcome}` };
}

/** In the place of what an event would say, where there is no key for it. */
export interface SealedEvent {
  readonly type: string;
  readonly sealed: string;
}

export function isSealedEvent(event: object): event is SealedEvent {
  return typeof (event as Partial<SealedEvent> | null)?.sealed === 'string';
}

/**
 * For those who only look: what there is no key for comes as a record that says so, and hides neither
 * the chain nor the others. Nobody may go on with a run that was read by this.
 */
export function lookingCodec(codec: Codec): Codec {
  return {
    encode: (text, place) => codec.encode(text, place),
    decode: (stored, place) => {
      try {
        return codec.decode(stored, place);
      } catch (error) {
        if (!(error instanceof KeyMissingError)) throw error;
        const sealed = describeSealed(stored);
        const [kind, ...words] = place.what.split(' ');
        const word = words.at(-1);
        return JSON.stringify(
          kind === 'record'
            ? { type: word, sealed }
            : { outcome: word, state: '?', reason: sealed },
        );
      }
    },
  };
}
