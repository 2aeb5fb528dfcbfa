/** The SQLite store keeps what every store promises. */
import { join } from 'node:path';
import { useTempDirs } from '../support/temp-dir.ts';
import { describeStore } from './conformance.ts';
import { sqliteHarness } from './sqlite-harness.ts';

const newDir = useTempDirs();

describeStore('sqlite', sqliteHarness(join(newDir(), 'store.db')));
