/** The keys that are configured, as the codec they make. */
import { readFileSync } from 'node:fs';
import {
  aesCodec,
  type Codec,
  type CodecKeys,
  checkedKeys,
  describeError,
  parseCodecKeys,
} from '../ground/index.ts';
import { ConfigError, LoadError } from './errors.ts';

export interface CodecSettings {
  readonly codec: CodecKeys | undefined;
  readonly codecKeysFile: string | undefined;
}

/** What nobody has given keys for is not sealed. */
export function codecOf(settings: CodecSettings): Codec | undefined {
  const keys = codecKeysIn(settings);
  return keys && aesCodec(keys);
}

export function codecKeysIn({ codec, codecKeysFile }: CodecSettings): CodecKeys | undefined {
  if (codecKeysFile === undefined) return codec;
  let text: string;
  try {
    text = readFileSync(codecKeysFile, 'utf8');
  } catch (cause) {
    const message = `the file of keys cannot be read: ${describeError(cause).message}`;
    throw new LoadError(message, { cause, hint: 'name another with FLEETQ_CODEC_KEYS_FILE' });
  }
  return parseCodecKeys(text, codecKeysFile);
}

/** Whatever is wrong with it, none of it is told: it may be a key. */
export function readCodecKeys(value: unknown, where: string): CodecKeys {
  if (typeof value === 'string') return parseCodecKeys(value, where);
  const { keys, current } = Object(value) as Partial<CodecKeys>;
  const isMap = typeof keys === 'object' && keys !== null && !Array.isArray(keys);
  if (isMap && typeof current === 'string') return checkedKeys({ keys, current });
  throw new ConfigError(`${where} must be keys such as 'id:base64,id2:base64'`, {
    hint: "in a config file also { keys: { id: '…' }, current: 'id' }; fleetq codec new-key makes one",
  });
}

/** As a variable holds them. */
export function codecKeysText({ keys, current }: CodecKeys): string {
  const ids = [current, ...Object.keys(keys).filter((id) => id !== current)];
  return ids.map((id) => `${id}:${keys[id]}`).join(',');
}

/** For people: which there are, and nothing of them. */
export function codecKeyIds({ keys, current }: CodecKeys): string {
  const others = Object.keys(keys).filter((id) => id !== current);
  return [`${current} (seals)`, ...others].join(', ');
}
