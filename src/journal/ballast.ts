/**
 * A file that only takes up space, given back when the disk is full: enough for the runs in hand to
 * write how they ended. While it is gone, no new run is started.
 */
import {
  closeSync,
  constants,
  fsyncSync,
  ftruncateSync,
  openSync,
  unlinkSync,
  writeSync,
} from 'node:fs';

export const BALLAST_BYTES = 1024 * 1024;

export class Ballast {
  readonly #file: string;
  isHeld = false;

  constructor(file: string) {
    this.#file = file;
  }

  /** Takes the space; false where there is none. */
  hold(): boolean {
    let fd: number | undefined;
    try {
      fd = openSync(this.#file, constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW, 0o600);
      // Written, not just sized: a hole would take no space.
      this.isHeld =
        writeSync(fd, Buffer.alloc(BALLAST_BYTES), 0, BALLAST_BYTES, 0) === BALLAST_BYTES;
      if (this.isHeld) fsyncSync(fd);
      else ftruncateSync(fd, 0);
    } catch {
      this.isHeld = false;
      if (fd !== undefined) ftruncateSync(fd, 0);
    } finally {
      if (fd !== undefined) closeSync(fd);
    }
    return this.isHeld;
  }

  /** Gives the space back; false where there was none. */
  release(): boolean {
    if (!this.isHeld) return false;
    this.isHeld = false;
    try {
      unlinkSync(this.#file);
      return true;
    } catch {
      return false;
    }
  }
}
