/** Texts that are sealed: who opens them, who does not, and what each is told. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  aesCodec,
  CodecKeysError,
  describeSealed,
  identityCodec,
  KeyMissingError,
  newCodecKey,
  parseCodecKeys,
  SealBrokenError,
  sealedBytesMax,
} from '../../src/ground/index.ts';
import { seededRandom } from '../support/seeded-random.ts';

const keyLine = (id: string, seed: number) => newCodecKey(id, seededRandom(seed));
const codecOf = (...lines: string[]) => aesCodec(parseCodecKeys(lines.join(','), 'the test'));

const [old, next] = [keyLine('old', 1), keyLine('next', 2)];
const place = { run: '01JCQ8', what: 'input' };

test('a text comes back as it was, whatever is in it, and is not to be seen meanwhile', () => {
  const codec = codecOf(old);
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => {
      const sealed = codec.encode(`secret${text}`, place);
      expect(sealed).toMatch(/^fqs1\.old\.[0-9a-f]{8}\.[A-Za-z0-9_-]+$/);
      expect(sealed).not.toContain('secret');
      expect(codec.decode(sealed, place)).toBe(Buffer.from(`secret${text}`).toString());
      expect(sealed.length).toBeLessThanOrEqual(sealedBytesMax(Buffer.byteLength(`secret${text}`)));
    }),
  );
});

test('the same text is sealed anew each time', () => {
  const codec = codecOf(old);
  const sealed = Array.from({ length: 1_000 }, () => codec.encode('{}', place));
  expect(new Set(sealed).size).toBe(1_000);
});

test('a text that was moved to another run, or to another place of it, is refused', () => {
  const codec = codecOf(old);
  const sealed = codec.encode('text', place);
  for (const elsewhere of [
    { ...place, run: '01JCQ9' },
    { ...place, what: 'result 1' },
  ]) {
    expect(() => codec.decode(sealed, elsewhere)).toThrow(SealBrokenError);
  }
});

test('no change of a single character goes unseen', () => {
  const codec = codecOf(old, next);
  const sealed = codec.encode('{"a":1}', place);
  for (let at = 0; at < sealed.length; at++) {
    for (const letter of ['A', 'z', '0', '.', '-']) {
      const changed = sealed.slice(0, at) + letter + sealed.slice(at + 1);
      if (changed === sealed) continue;
      // Without its beginning it is somebody's plain text, and no JSON.
      if (!changed.startsWith('fqs1.')) expect(codec.decode(changed, place)).toBe(changed);
      else expect(() => codec.decode(changed, place), changed).toThrow();
    }
    if (at >= 5) expect(() => codec.decode(sealed.slice(0, at), place)).toThrow();
  }
});

test('several keys open, and the first of them seals', () => {
  const before = codecOf(old).encode('text', place);
  const rotated = codecOf(next, old);
  expect(rotated.decode(before, place)).toBe('text');
  const after = rotated.encode('text', place);
  expect(after).toContain('fqs1.next.');
  expect(codecOf(old, next).decode(after, place)).toBe('text');
  expect(() => codecOf(old).decode(after, place)).toThrow(KeyMissingError);
});

test('a key that is not here, or is another of that name, is told from damage', () => {
  const sealed = codecOf(old).encode('text', place);
  for (const codec of [codecOf(next), codecOf(keyLine('old', 3)), identityCodec]) {
    let thrown: unknown;
    try {
      codec.decode(sealed, place);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(KeyMissingError);
    expect(thrown).toMatchObject({ code: 'FLEETQ_KEY_MISSING', key: 'old', verdict: 'retry' });
  }
  expect(describeSealed(sealed)).toBe(`sealed with key old, ${sealed.length} bytes`);
  expect(describeSealed('{"plain":true}')).toBeUndefined();
});

test('what nobody has sealed is taken as it is', () => {
  expect(codecOf(old).decode('{"a":1}', place)).toBe('{"a":1}');
});

test('keys that are none are refused, and no error shows any of them', () => {
  const secret = Buffer.alloc(32, 7).toString('base64');
  const wrong = [
    '',
    'justtext',
    `${secret}`,
    `a:${secret.slice(0, 20)}`,
    `a b:${secret}`,
    `a:${secret},a:${secret}`,
    `${secret}:a`,
    `a:${secret}x==`,
    `a:${secret},${secret}`,
  ];
  for (const text of wrong) {
    let thrown: Error | undefined;
    try {
      parseCodecKeys(text, 'FLEETQ_CODEC_KEYS');
    } catch (error) {
      thrown = error as Error;
    }
    expect(thrown, text).toBeInstanceOf(CodecKeysError);
    expect(`${thrown?.stack} ${thrown?.message}`).not.toContain(secret.slice(0, 12));
  }
  expect(() => aesCodec({ keys: { a: secret }, current: 'b' })).toThrow('one of a');
});

test('a file of keys may have lines and remarks', () => {
  const { keys, current } = parseCodecKeys(`# since May\n${next}\n\n${old}\n`, 'the file');
  expect([Object.keys(keys), current]).toEqual([['next', 'old'], 'next']);
});
