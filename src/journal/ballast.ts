/**
 * A file that only takes up space, given back when the disk is full: enough for the runs in hand to
 * write how they ended. While it is gone, no new run is started.
 */
import {
  closeSync,
  constants,
  fsyncSync,
  lstatSync,
  openSync,
  unlinkSync,
  writeSync,
} from 'node:fs';

export const BALLAST_BYTES = 1024 * 1024;
/** The unit in which a file system says how much it has given. */
const BLOCK_BYTES = 512;

export class Ballast {
  readonly #file: string;
  isHeld = false;

  constructor(file: string) {
    this.#file = file;
  }

  /** Takes the space; false where there is none. */
  hold(): boolean {
    this.isHeld = this.#isThere() || this.#take();
    return this.isHeld;
  }

  /** A predecessor's is as good as a new one, if it has really been given its blocks. */
  #isThere(): boolean {
    const found = lstatSync(this.#file, { throwIfNoEntry: false });
    return (
      found?.isFile() === true &&
      found.size === BALLAST_BYTES &&
      found.blocks * BLOCK_BYTES >= BALLAST_BYTES
    );
  }

  #take(): boolean {
    let fd: number | undefined;
    let isTaken = false;
    try {
      fd = openSync(this.#file, constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW, 0o600);
      // Written, not just sized: a hole would take no space.
      isTaken = writeSync(fd, Buffer.alloc(BALLAST_BYTES), 0, BALLAST_BYTES, 0) === BALLAST_BYTES;
      if (isTaken) fsyncSync(fd);
    } catch {
      isTaken = false;
    }
    if (fd !== undefined) closeSync(fd);
    // What was got of it is given back: others need it more.
    if (!isTaken) this.#remove();
    return isTaken;
  }

  /** Gives the space back; false where there was none. */
  release(): boolean {
    if (!this.isHeld) return false;
    this.isHeld = false;
    return this.#remove();
  }

  #remove(): boolean {
    try {
      unlinkSync(this.#file);
      return true;
    } catch {
      return false;
    }
  }
}
