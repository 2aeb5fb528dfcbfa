/**
 * `fleetq/sqlite`: the SQLite that FleetQ itself uses, for programs that open the store's file in a
 * process with a pod in it. Another copy of SQLite in the same process does not see the locks of this
 * one, and two writers at the same time corrupt the file.
 */
import './ground/refuse-old-node.ts';
import { type SqliteClass, type SqliteDatabase, sqlite } from './ground/index.ts';

export const Database: SqliteClass = sqlite().Database;
export type Database = SqliteDatabase;
