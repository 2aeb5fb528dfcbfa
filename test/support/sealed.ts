/** A codec for tools and children that are told to seal: by a variable, so that it reaches threads too. */
import { aesCodec, type Codec, newCodecKey, parseCodecKeys } from '../../src/ground/index.ts';
import { seededRandom } from './seeded-random.ts';

export const SEALED_VARIABLE = 'FLEETQ_TEST_SEALED';

/** Everybody has the same key; undefined where nobody was told to seal. */
export function codecIfTold(): Codec | undefined {
  if (process.env[SEALED_VARIABLE] !== '1') return undefined;
  return aesCodec(parseCodecKeys(newCodecKey('test', seededRandom(5)), 'the test'));
}
