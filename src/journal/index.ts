/** The local journal: append, group commit, timers, dead letters. */
export { type Codec, identityCodec, isSealedEvent, lookingCodec } from './codec.ts';
export { adoptJournal, type Rival } from './copy.ts';
export {
  DamagedRunError,
  HandoverTakenError,
  JournalDamagedError,
  JournalFormatError,
  JournalHeldError,
  JournalPlaceError,
  JournalStalledError,
  SealedRunError,
  UnknownRecordError,
  unlessDamaged,
} from './errors.ts';
export { type ExportedRun, exportRuns, type InspectReport, inspectJournal } from './inspect.ts';
export type {
  Alarm,
  Closing,
  DamagedRun,
  DeadLetter,
  Entry,
  EventRow,
  Evidence,
  HeldRow,
  Journal,
  Occupancy,
  Opening,
  RunFilter,
  RunRow,
  StoredRecord,
  UnfinishedRun,
  WholeRun,
} from './journal.ts';
export { type JournalFile, openJournalFile } from './journal-file.ts';
export { describeHolder, type Place, placeOf, refuseUnfit } from './place.ts';
export { CHAIN_START, decodeRows, decodeRowsAfter, encodeEntry, provedAfter } from './record.ts';
export { type JournalOptions, SqliteJournal } from './sqlite-journal.ts';
export { takeTurn } from './take-turn.ts';
export { type Problem, type VerifyReport, verifyJournal } from './verify.ts';
