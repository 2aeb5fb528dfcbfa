/** What every transaction begins and ends with. */

/** Takes the lock at once: a transaction that reads first and writes later could not be given it. */
export const beginWrite = 'begin immediate';
export const beginRead = 'begin';
export const commit = 'commit';
export const rollback = 'rollback';
/** Around one of many rows, so that a refused one takes only itself back. */
export const beginRow = 'savepoint one_row';
export const commitRow = 'release one_row';
export const rollbackRow = 'rollback to one_row';

/** The store's clock. Read under the lock, so that what commits later has the later time. */
export const selectNow = `select cast(round(unixepoch('subsec') * 1000) as integer) as now`;
