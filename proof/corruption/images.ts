/** Every way to damage the samples in one place: cut at a byte, or one bit flipped in it. */
import { FILES, type FileName, type Sample } from './sample.ts';

export interface Image {
  readonly name: string;
  readonly sample: Sample;
  readonly file: FileName;
  readonly how: Damage['how'];
  readonly bytes: Buffer;
}

/** Where an image is: cheap to list, and made only when its turn comes. */
export interface Damage {
  readonly sample: Sample['name'];
  readonly file: FileName;
  readonly at: number;
  readonly how: 'cut' | 'flip';
}

/** Where every byte is taken even at a stride: headers, and the first of the WAL's frames. */
const HEAD_BYTES = 128;

/** All three files of the killed one; of the closed one the database file, where nothing else hides it. */
export function allDamages(samples: readonly Sample[], stride: number): Damage[] {
  const damages: Damage[] = [];
  for (const { name: sample, files } of samples) {
    for (const file of sample === 'killed' ? FILES : (['journal.db'] as const)) {
      for (let at = 0; at < (files[file]?.length ?? 0); at++) {
        if (at % stride !== 0 && at >= HEAD_BYTES) continue;
        damages.push({ sample, file, at, how: 'cut' }, { sample, file, at, how: 'flip' });
      }
    }
  }
  return damages;
}

export function nameOf({ sample, file, at, how }: Damage): string {
  const what = how === 'cut' ? `cut at ${at}` : `bit ${bitOf(at)} of byte ${at} flipped`;
  return `${file} of the ${sample} one, ${what}`;
}

export function imageOf(samples: readonly Sample[], damage: Damage): Image {
  const { file, at, how } = damage;
  const sample = samples.find(({ name }) => name === damage.sample)!;
  const whole = sample.files[file]!;
  const name = nameOf(damage);
  if (how === 'cut') return { name, sample, file, how, bytes: whole.subarray(0, at) };
  const bytes = Buffer.from(whole);
  bytes[at] = bytes[at]! ^ (1 << bitOf(at));
  return { name, sample, file, how, bytes };
}

/** Any bit, but the same one each time. */
function bitOf(at: number): number {
  return (Math.imul(at, 0x9e3779b1) >>> 28) & 7;
}
