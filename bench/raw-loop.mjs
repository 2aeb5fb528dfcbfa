/** The hand loop the engine is held against: same rows, same order of writes, same durability. */
import { hash as hashOnce } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { monotonicFactory } from 'ulid';

const STATES = ['main.check', 'main.work', 'main.validate', 'main.persist', 'completed'];
const ENDING = '{"outcome":"completed","state":"main.persist","output":{"n":1}}';
const BARE_DATA = '{"type":"DONE","output":{"url":"https://example.invalid/image","n":1}}';
const CONSTANT = '0'.repeat(32);

/** Opens a journal's file as the engine does; answers the function that writes a batch of rows. */
export function openRaw(dataDir) {
  mkdirSync(dataDir, { recursive: true });
  const db = new Database(join(dataDir, 'journal.db'));
  db.pragma('locking_mode = EXCLUSIVE');
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = FULL');
  for (const sql of migrations()) db.exec(sql);
  db.exec(
    "insert into journal (one, id, boot, lsn, created_at, seal) values (1, 'raw', 1, 0, 0, '')",
  );
  const insertEvent = db.prepare(
    'insert into events (lsn, run, seq, at, epoch, event, state, data, hash) values (?, ?, ?, ?, ?, ?, ?, ?, ?)',
  );
  const insertRun = db.prepare(
    'insert into runs (id, machine, version, key, started_at) values (?, ?, ?, ?, ?)',
  );
  const finishRun = db.prepare(
    `update runs set finished_at = ?, outcome = ?, attempt = ?, ending = ?, last_seq = ?,
            last_hash = ?, seal = ?
      where id = ? and finished_at is null`,
  );
  const head = db.prepare('update journal set lsn = ?, seal = ? where one = 1');
  const begin = db.prepare('begin immediate');
  const commit = db.prepare('commit');
  let lsn = 0;
  return (rows) => {
    begin.run();
    for (const row of rows) {
      insertEvent.run(++lsn, row.run, row.seq, row.at, 1, row.event, row.state, row.data, row.hash);
      if (row.seq === 0) insertRun.run(row.run, 'bench-four', 1, null, row.at);
      if (row.seq === 4)
        finishRun.run(row.at, 'completed', 1, ENDING, 4, row.hash, row.seal, row.run);
    }
    head.run(lsn, CONSTANT);
    commit.run();
  };
}

function migrations() {
  const directory = new URL('../migrations/journal/', import.meta.url);
  return readdirSync(directory)
    .sort()
    .map((name) => readFileSync(new URL(name, directory), 'utf8'));
}

export function rawLoop(dataDir, kind) {
  const write = openRaw(dataDir);
  let waiting = [];
  function flush() {
    const batch = waiting;
    waiting = [];
    write(batch.map(({ row }) => row));
    for (const { resolve } of batch) resolve();
  }
  return rowsOf(kind, (row) => {
    return new Promise((resolve) => {
      waiting.push({ row, resolve });
      if (waiting.length === 1) setImmediate(flush);
    });
  });
}

/** The rows of one run after another, each appended once the one before it is durable. */
export function rowsOf(kind, append) {
  const ulid = monotonicFactory();
  const isBare = kind === 'bare';
  const digest = isBare ? () => CONSTANT : (text) => hashOnce('sha256', text, 'hex').slice(0, 32);
  return async (n) => {
    const run = ulid();
    let prev = '';
    for (let seq = 0; seq < 5; seq++) {
      const at = Date.now();
      const event = seq === 0 ? 'STARTED' : 'DONE';
      const data = isBare ? BARE_DATA : dataOf(seq, n);
      prev = digest(`${prev}\n${run}\n${seq}\n${at}\n1\n${event}\n${STATES[seq]}\n${data}`);
      const seal =
        seq === 4 ? digest(`${run}\nbench-four\n1\n\n${at}\n${at}\n${ENDING}\n4\n${prev}`) : '';
      await append({ run, seq, at, event, state: STATES[seq], data, hash: prev, seal });
    }
  };
}

function dataOf(seq, n) {
  if (seq === 0) {
    return JSON.stringify({
      machine: 'bench-four',
      version: 1,
      fingerprint: CONSTANT,
      input: { n },
    });
  }
  if (seq === 2)
    return JSON.stringify({ type: 'DONE', output: { url: 'https://example.invalid/image', n } });
  return JSON.stringify(seq === 4 ? { type: 'DONE', output: { n } } : { type: 'DONE' });
}
