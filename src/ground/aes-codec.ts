/**
 * The codec that comes with FleetQ: AES-256-GCM. Each run has a key of its own, derived from the one that
 * is configured: however many texts a fleet writes, few of them share a key, and random nonces of 96 bits
 * do not meet. What a text is, and of which run, goes into its tag.
 */
import { createCipheriv, createDecipheriv, createHmac } from 'node:crypto';
import {
  type Codec,
  CodecKeysError,
  type CodecPlace,
  KeyMissingError,
  SEAL_PREFIX,
  SealBrokenError,
  type Sealed,
  sealedParts,
} from './codec.ts';
import { type Random, systemRandom } from './random.ts';

export interface CodecKeys {
  /** By id; each 32 bytes as base64. All of them open. */
  readonly keys: Readonly<Record<string, string>>;
  /** The id of the one that seals. */
  readonly current: string;
}

const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const NONCE_COUNT = 256;
const KEY_ID = /^[A-Za-z0-9_-]{1,32}$/;
const KEY_COUNT_MAX = 100;
/** Runs whose keys are remembered; they come back for every record. */
const DERIVED_COUNT_MAX = 4_096;

class Key {
  readonly id: string;
  readonly header: string;
  readonly check: string;
  readonly #secret: Buffer;
  readonly #derived = new Map<string, Buffer>();

  constructor(id: string, secret: Buffer) {
    this.id = id;
    this.#secret = secret;
    this.check = this.#mac('check').toString('hex').slice(0, 8);
    this.header = `${SEAL_PREFIX}${id}.${this.check}.`;
  }

  of(run: string): Buffer {
    const known = this.#derived.get(run);
    if (known) return known;
    if (this.#derived.size >= DERIVED_COUNT_MAX) this.#derived.clear();
    const made = this.#mac(`run\n${run}`);
    this.#derived.set(run, made);
    return made;
  }

  #mac(text: string): Buffer {
    return createHmac('sha256', this.#secret).update(`fleetq\n${text}`).digest();
  }
}

/** Keys that a codec was made of, for processes that this one starts; nobody else can ask for them. */
const keysOf = new WeakMap<Codec, CodecKeys>();

export function codecKeysOf(codec: Codec): CodecKeys | undefined {
  return keysOf.get(codec);
}

export function aesCodec(given: CodecKeys & { readonly random?: Random | undefined }): Codec {
  const nextNonce = noncesOf(given.random ?? systemRandom);
  const keys = readKeys(given);
  const current = keys.get(given.current)!;
  const codec: Codec = {
    encode: (text, place) => seal(current, text, place, nextNonce()),
    decode: (stored, place) => {
      if (!stored.startsWith(SEAL_PREFIX)) return stored;
      const parts = sealedParts(stored);
      if (parts === undefined) throw new SealBrokenError(place);
      const key = keys.get(parts.key);
      if (key?.check !== parts.check) {
        throw new KeyMissingError(parts.key, place, key !== undefined);
      }
      return open(key, parts, place);
    },
    mac: (text, { run, what }) =>
      createHmac('sha256', current.of(run)).update(`${what}\n${text}`).digest('hex').slice(0, 32),
  };
  keysOf.set(codec, { keys: given.keys, current: given.current });
  return codec;
}

/** Many at once: to ask for randomness takes half as long as to seal a short text. Each is used once. */
function noncesOf(random: Random): () => Buffer {
  let [pool, at] = [Buffer.alloc(0), 0];
  return () => {
    if (at >= pool.length) {
      pool = Buffer.from(random.hex(NONCE_BYTES * NONCE_COUNT), 'hex');
      at = 0;
    }
    at += NONCE_BYTES;
    return pool.subarray(at - NONCE_BYTES, at);
  };
}

function seal(key: Key, text: string, place: CodecPlace, nonce: Buffer): string {
  const cipher = createCipheriv(CIPHER, key.of(place.run), nonce);
  cipher.setAAD(placeText(key, place));
  const parts = [nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()];
  return key.header + Buffer.concat(parts).toString('base64url');
}

function open(key: Key, { body }: Sealed, place: CodecPlace): string {
  const bytes = Buffer.from(body, 'base64url');
  if (bytes.length < NONCE_BYTES + TAG_BYTES || !isExact(body)) throw new SealBrokenError(place);
  try {
    const decipher = createDecipheriv(CIPHER, key.of(place.run), bytes.subarray(0, NONCE_BYTES), {
      authTagLength: TAG_BYTES,
    });
    decipher.setAAD(placeText(key, place));
    decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
    const opened = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES));
    return Buffer.concat([opened, decipher.final()]).toString('utf8');
  } catch (cause) {
    throw new SealBrokenError(place, cause);
  }
}

/** Bits that base64 leaves over would make two texts of one: only what was written is taken. */
function isExact(body: string): boolean {
  const last = body.slice(body.length - (body.length % 4));
  return Buffer.from(last, 'base64url').toString('base64url') === last;
}

function placeText({ header }: Key, { run, what }: CodecPlace): Buffer {
  return Buffer.from(`${header}\n${run}\n${what}`);
}

/** The most bytes that a text of so many has once it is sealed. */
export function sealedBytesMax(bytes: number): number {
  const head = SEAL_PREFIX.length + 32 + 1 + 8 + 1;
  return head + Math.ceil(((NONCE_BYTES + bytes + TAG_BYTES) * 4) / 3) + 2;
}

function readKeys({ keys, current }: CodecKeys): ReadonlyMap<string, Key> {
  const ids = Object.keys(keys);
  if (ids.length === 0 || ids.length > KEY_COUNT_MAX) {
    throw new CodecKeysError(`a codec needs 1 to ${KEY_COUNT_MAX} keys, got ${ids.length}`);
  }
  for (const id of ids) {
    if (KEY_ID.test(id)) continue;
    // It may be the key itself, put into the wrong place.
    throw new CodecKeysError("a key's id must be 1 to 32 letters, digits, '-' or '_'; one is not");
  }
  if (!ids.includes(current)) {
    throw new CodecKeysError(`the current key must be one of ${ids.join(', ')}`);
  }
  return new Map(ids.map((id) => [id, new Key(id, secretOf(id, keys[id]))]));
}

function secretOf(id: string, text: unknown): Buffer {
  const isBase64 = typeof text === 'string' && /^[A-Za-z0-9+/_-]+={0,2}$/.test(text);
  const secret = isBase64 ? Buffer.from(text, 'base64') : Buffer.alloc(0);
  if (secret.length === KEY_BYTES) return secret;
  throw new CodecKeysError(`key ${id} must be ${KEY_BYTES} bytes as base64`);
}

/** 'id:base64' with a comma or a line end between; the first is current. Lines with # say something. */
export function parseCodecKeys(text: string, where: string): CodecKeys {
  const lines = text.split(/[,\n]/).map((line) => line.trim());
  const entries = lines
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => /^([^:\s]+):\s*(\S+)$/.exec(line)?.slice(1, 3) as [string, string] | undefined);
  const [first] = entries;
  if (first === undefined || entries.includes(undefined)) {
    throw new CodecKeysError(`${where} must be keys such as 'id:base64,id2:base64'`);
  }
  const ids = entries.map((entry) => entry![0]);
  if (new Set(ids).size < ids.length) throw new CodecKeysError(`${where} has two keys of one id`);
  return checkedKeys({
    keys: Object.fromEntries(entries as [string, string][]),
    current: first[0],
  });
}

/** The same keys, or an error that says which of them is none. */
export function checkedKeys(given: CodecKeys): CodecKeys {
  readKeys(given);
  return given;
}

/** A line for FLEETQ_CODEC_KEYS_FILE. */
export function newCodecKey(id: string, random: Random = systemRandom): string {
  const line = `${id}:${Buffer.from(random.hex(KEY_BYTES), 'hex').toString('base64')}`;
  parseCodecKeys(line, 'the new key');
  return line;
}
