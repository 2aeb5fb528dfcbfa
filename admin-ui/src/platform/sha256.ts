/**
 * SHA-256 of a text. Browsers have one of their own, but not for pages that came by plain HTTP, and
 * fingerprints of errors have to be the same everywhere.
 */
const ROUNDS = 64;
const BLOCK = 64;

const [K, START] = constants();

/** The fractional parts of roots of the first primes. */
function constants(): [Uint32Array, Uint32Array] {
  const primes: number[] = [];
  for (let n = 2; primes.length < ROUNDS; n++) {
    if (primes.every((prime) => n % prime !== 0)) primes.push(n);
  }
  const part = (root: number) => (root - Math.floor(root)) * 2 ** 32;
  return [
    Uint32Array.from(primes, (prime) => part(Math.cbrt(prime))),
    Uint32Array.from(primes.slice(0, 8), (prime) => part(Math.sqrt(prime))),
  ];
}

/** As `hash` of node:crypto; this one algorithm in this one form is all that is asked for. */
export function hash(_algorithm: 'sha256', text: string, _form: 'hex'): string {
  const bytes = padded(new TextEncoder().encode(text));
  const view = new DataView(bytes.buffer);
  const state = START.slice();
  const words = new Uint32Array(ROUNDS);
  for (let at = 0; at < bytes.length; at += BLOCK) {
    for (let index = 0; index < 16; index++) words[index] = view.getUint32(at + index * 4);
    expand(words);
    compress(state, words);
  }
  return Array.from(state, (word) => word.toString(16).padStart(8, '0')).join('');
}

function padded(message: Uint8Array): Uint8Array<ArrayBuffer> {
  const length = Math.ceil((message.length + 9) / BLOCK) * BLOCK;
  const bytes = new Uint8Array(length);
  bytes.set(message);
  bytes[message.length] = 0x80;
  new DataView(bytes.buffer).setBigUint64(length - 8, BigInt(message.length) * 8n);
  return bytes;
}

const turn = (word: number, by: number) => (word >>> by) | (word << (32 - by));

function expand(words: Uint32Array): void {
  for (let index = 16; index < ROUNDS; index++) {
    const [a, b] = [words[index - 15]!, words[index - 2]!];
    const first = turn(a, 7) ^ turn(a, 18) ^ (a >>> 3);
    const second = turn(b, 17) ^ turn(b, 19) ^ (b >>> 10);
    words[index] = words[index - 16]! + first + words[index - 7]! + second;
  }
}

function compress(state: Uint32Array, words: Uint32Array): void {
  let [a, b, c, d, e, f, g, h] = state as unknown as number[];
  for (let index = 0; index < ROUNDS; index++) {
    const up = turn(e!, 6) ^ turn(e!, 11) ^ turn(e!, 25);
    const choice = (e! & f!) ^ (~e! & g!);
    const one = (h! + up + choice + K[index]! + words[index]!) | 0;
    const down = turn(a!, 2) ^ turn(a!, 13) ^ turn(a!, 22);
    const two = (down + ((a! & b!) ^ (a! & c!) ^ (b! & c!))) | 0;
    [h, g, f, e, d, c, b, a] = [g, f, e, (d! + one) | 0, c, b, a, (one + two) | 0];
  }
  [a, b, c, d, e, f, g, h].forEach((word, index) => {
    state[index]! += word!;
  });
}
