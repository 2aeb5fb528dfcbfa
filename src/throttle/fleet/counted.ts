/**
 * Who was counted, and by which of their reports. A pod has a share by what it told when it was counted,
 * and by nothing else: times could not say which report that was, where a store is slow. So whoever divides
 * publishes four bytes for each report that it went by, in which every pod finds its own.
 */
export type Counted = ReadonlySet<number>;

const BYTES = 4;

/** What tokens of the pod `key` begin with. */
export function hashOf(key: string): number {
  return hashed(0x811c9dc5, `${key} `);
}

/** The report `mark` of a pod, for all that matters: that of another is this one once in billions. */
export function tokenOf(hash: number, mark: number): number {
  const token = hashed(hash, `${mark}`);
  return mixed(token ^ (token >>> 15)) >>> 0;
}

export function encodeCounted(counted: Counted): string {
  const bytes = Buffer.alloc(BYTES * counted.size);
  let at = 0;
  for (const token of counted) at = bytes.writeUInt32LE(token, at);
  return bytes.toString('base64');
}

/** Nobody, where it cannot be read. */
export function decodeCounted(text: unknown): Counted {
  const bytes = Buffer.from(typeof text === 'string' ? text : '', 'base64');
  const counted = new Set<number>();
  for (let at = 0; at + BYTES <= bytes.length; at += BYTES) counted.add(bytes.readUInt32LE(at));
  return counted;
}

function hashed(from: number, text: string): number {
  let hash = from;
  for (let at = 0; at < text.length; at++) hash = mixed(hash ^ text.charCodeAt(at));
  return hash;
}

function mixed(hash: number): number {
  return Math.imul(hash, 0x01000193);
}
