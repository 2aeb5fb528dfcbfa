/**
 * What a row may hold so that every later statement can count with it. The SQL stores have the same
 * limits as constraints; what comes through the interface is brought within them before it is sent.
 */

/** Times lie in the years 1 to 9999: both stores, and JavaScript, can add to them and subtract. */
export const TIME_MS_MIN = -62_135_596_800_000;
export const TIME_MS_MAX = 253_402_214_400_000;
/** Three centuries: as far as a wait, a deadline or the life of a key may reach. */
export const SPAN_MS_MAX = 1e13;
/** No task that waits for its version is left alone for longer without being looked at again. */
export const BLOCKED_MS_MAX = 300_000;
/** Of claims, crashes, retries and generations. */
export const COUNT_MAX = 1_000_000_000;
/** A greater one is rounded by whoever reads it as a number, and then fences nothing. */
export const EPOCH_MAX = Number.MAX_SAFE_INTEGER;

/**
 * No count comes near this; a row that a person wrote may. Such an epoch begins anew above all that
 * was ever given out, and can be raised for ever.
 */
export const EPOCH_TURN = EPOCH_MAX - 2 ** 20;
export const EPOCH_ANEW = 2 ** 52;

/** Each server that takes over has as many epochs of its own: those from its timeline times this on. */
export const TIMELINE_EPOCHS = 2 ** 32;

/** The epoch after this one. */
export function raised(epoch: number): number {
  return (epoch < EPOCH_TURN ? epoch : EPOCH_ANEW) + 1;
}

/** The largest payload that is handed over where nobody has said less. */
export const PAYLOAD_BYTES_MAX = 64 * 1024 * 1024;

export function boundedTime(ms: number): number {
  return Math.min(Math.max(ms, TIME_MS_MIN), TIME_MS_MAX);
}

export function boundedSpan(ms: number): number {
  return Math.min(ms, SPAN_MS_MAX);
}

/** Of a segment with more characters than these, a list is told its state alone. */
export const GLANCED_LENGTH_MAX = 65_536;
