/**
 * The disk of a pod that can be made full: a file system in memory, in a mount namespace of its own,
 * made as small as what is on it, and larger again.
 */
import { statfsSync } from 'node:fs';
import { makeSmallDisk, type SmallDisk } from '../../test/journal/small-disk.ts';

const ROOMY_MIB = 2_048;
/** A page or two are left, so that it is a write in the middle of something that fails. */
const LEFT_BYTES = 8_192;
const FILL_TRIES_MAX = 20;

export class PodDisk {
  readonly #disk: SmallDisk;
  /** A run that ends early must not leave its holder behind. */
  readonly #onExit = () => this.#disk.remove();

  private constructor(disk: SmallDisk) {
    this.#disk = disk;
    process.once('exit', this.#onExit);
  }

  static async make(lifeSeconds: number): Promise<PodDisk> {
    return new PodDisk(await makeSmallDisk(ROOMY_MIB, lifeSeconds));
  }

  /** Where it is, for those inside. */
  get directory(): string {
    return this.#disk.directory;
  }

  /** The root of those inside, as those outside see it. */
  get root(): string {
    const { directory, seenFromOutside } = this.#disk;
    return seenFromOutside.slice(0, -directory.length);
  }

  /** What a command is started through to be inside. */
  get inside(): readonly string[] {
    return this.#disk.inside;
  }

  /** Whoever writes meanwhile makes what was measured too small: then it is measured again. */
  fill(): boolean {
    for (let tries = 0; tries < FILL_TRIES_MAX; tries += 1) {
      const { bsize, blocks, bfree } = statfsSync(this.#disk.seenFromOutside);
      if (this.#resize(`${bsize * (blocks - bfree) + LEFT_BYTES}`)) return true;
    }
    return false;
  }

  makeRoom(): void {
    if (!this.#resize(`${ROOMY_MIB}m`)) throw new Error('the disk could not be made larger');
  }

  #resize(size: string): boolean {
    try {
      this.#disk.run('mount', '-o', `remount,size=${size}`, this.#disk.directory);
      return true;
    } catch {
      return false;
    }
  }

  lose(directory: string): void {
    this.#disk.run('rm', '-rf', directory);
  }

  remove(): void {
    process.off('exit', this.#onExit);
    this.#disk.remove();
  }
}
