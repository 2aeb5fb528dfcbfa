/** What everything stands on: time, randomness, ids, JSON, errors. Imports nothing of ours. */
export {
  aesCodec,
  type CodecKeys,
  checkedKeys,
  codecKeysOf,
  newCodecKey,
  parseCodecKeys,
  sealedBytesMax,
} from './aes-codec.ts';
export { assert, assertNever } from './assert.ts';
export { type Backoff, exponential, jittered } from './backoff.ts';
export {
  atMost,
  type Cancel,
  type Clock,
  dateOf,
  isoTime,
  pause,
  systemClock,
  turn,
} from './clock.ts';
export {
  type Codec,
  CodecKeysError,
  type CodecPlace,
  describeSealed,
  identityCodec,
  KeyMissingError,
  keyMissingIn,
  SEAL_PREFIX,
  SealBrokenError,
  sealedParts,
} from './codec.ts';
export { DURATION_WANTED, type Duration, parseDuration, showDuration } from './duration.ts';
export {
  AssertionError,
  describeError,
  type ErrorInfo,
  FleetqError,
  type FleetqErrorOptions,
  show,
  type Verdict,
} from './errors.ts';
export { hash } from './hash.ts';
export { hush } from './hush.ts';
export {
  isRunId,
  longId,
  type MintRunId,
  mintedAt,
  type RunId,
  runIdMint,
  shortId,
} from './ids.ts';
export {
  decodeJson,
  encodeJson,
  freezeDeep,
  type Json,
  type JsonObject,
  NotJsonError,
  roundedIn,
  settleJson,
  TooLargeError,
} from './json.ts';
export { nearest } from './nearest.ts';
export { NODE_RANGE, NODE_WANTED, nodeComplaint, runtimeName } from './node-floor.ts';
export { type Pressure, systemPressure } from './pressure.ts';
export { type Random, systemRandom } from './random.ts';
export { REDACTED, redact, redactor, unfitRedaction } from './redact.ts';
export {
  openDatabase,
  type SqliteClass,
  type SqliteDatabase,
  type SqliteStatement,
  SqliteUnavailableError,
  sqlite,
  sqliteVersion,
} from './sqlite.ts';
export { traceIdOf } from './trace-id.ts';
