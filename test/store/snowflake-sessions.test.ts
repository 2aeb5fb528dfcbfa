/** What a store in Snowflake does when statements are late, busy, lost or refused. */
import { describe, expect, test } from 'vitest';
import {
  StoreBusyError,
  StoreOptionsError,
  StoreRefusedError,
  StoreSchemaError,
  StoreUnreachableError,
} from '../../src/store/errors.ts';
import {
  DuplicateKeyError,
  meaningOf,
  SessionOverError,
} from '../../src/store/snowflake/driver-errors.ts';
import type { Answer, Session } from '../../src/store/snowflake/executor.ts';
import { readSnowflakeWay } from '../../src/store/snowflake/options.ts';
import { Sessions } from '../../src/store/snowflake/sessions.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { seededRandom } from '../support/seeded-random.ts';

const NOTHING: Answer = { rows: [], count: 0 };

function driverError(code: string, message = 'said the account', sqlState = '57014') {
  return Object.assign(new Error(message), { code, sqlState });
}

/** Sessions that answer what they are told to; each is remembered with what was sent on it. */
function scripted(answer: (text: string, session: number) => Promise<Answer> | undefined) {
  const clock = new FakeClock();
  const sent: [session: number, text: string][] = [];
  const closed: number[] = [];
  let opened = 0;
  const open = async (): Promise<Session> => {
    const session = ++opened;
    return {
      execute: (text) => {
        sent.push([session, text]);
        return answer(text, session) ?? Promise.resolve(NOTHING);
      },
      close: async () => {
        closed.push(session);
      },
    };
  };
  const limits = { deadlineMs: 1_000, countMax: 2 };
  const sessions = new Sessions(open, limits, clock, seededRandom(1));
  return { clock, sessions, sent, closed, opened: () => opened };
}

/** Lets everything happen that waits for a while. */
async function settled<T>(clock: FakeClock, work: Promise<T>): Promise<PromiseSettledResult<T>> {
  let isOver = false;
  const result = Promise.allSettled([work]).then(([only]) => {
    isOver = true;
    return only!;
  });
  for (let rounds = 0; rounds < 10_000 && !isOver; rounds += 1) {
    await clock.advance(10);
    await Promise.resolve();
  }
  return result;
}

describe('a statement', () => {
  test('that is not answered in time may have happened, and its session is given up', async () => {
    const { clock, sessions, closed } = scripted(() => new Promise(() => undefined));
    const result = await settled(
      clock,
      sessions.use(({ run }) => run('update x')),
    );
    expect(result).toMatchObject({ reason: expect.any(StoreUnreachableError) });
    expect(closed).toEqual([1]);
  });

  test('that gave way to another is sent again on its session, and later each time', async () => {
    let failures = 3;
    const { clock, sessions, sent } = scripted(() =>
      failures-- > 0 ? Promise.reject(driverError('000625')) : undefined,
    );
    const result = await settled(
      clock,
      sessions.use(({ run }) => run('update x')),
    );
    expect(result.status).toBe('fulfilled');
    expect(sent.map(([session]) => session)).toEqual([1, 1, 1, 1]);
  });

  test('whose session is over is sent on another', async () => {
    const { clock, sessions, sent, closed } = scripted((_, session) =>
      session === 1 ? Promise.reject(driverError('390111')) : undefined,
    );
    const result = await settled(
      clock,
      sessions.use(({ run }) => run('update x')),
    );
    expect(result.status).toBe('fulfilled');
    expect(sent.map(([session]) => session)).toEqual([1, 2]);
    expect(closed).toEqual([1]);
  });

  test('that is refused is not sent again', async () => {
    const { clock, sessions, sent } = scripted(() =>
      Promise.reject(driverError('001003', 'syntax error', '42000')),
    );
    const result = await settled(
      clock,
      sessions.use(({ run }) => run('selct')),
    );
    expect(result).toMatchObject({ reason: expect.any(StoreRefusedError) });
    expect(sent).toHaveLength(1);
  });

  test('of a transaction that fails takes all of it back, and nothing is sent again', async () => {
    const { clock, sessions, sent } = scripted((text) =>
      text === 'update x' ? Promise.reject(driverError('000625')) : undefined,
    );
    const result = await settled(
      clock,
      sessions.use((line) => line.transaction((run) => run('update x'))),
    );
    expect(result).toMatchObject({ reason: expect.any(StoreBusyError) });
    expect(sent.map(([, text]) => text)).toEqual(['begin', 'update x', 'rollback']);
  });
});

describe('sessions', () => {
  test('are no more than allowed: who comes later waits, and goes on with one that is free', async () => {
    const { clock, sessions, opened } = scripted(() => undefined);
    const all = Array.from({ length: 20 }, () => sessions.use(({ run }) => run('select 1')));
    expect((await settled(clock, Promise.all(all))).status).toBe('fulfilled');
    expect(opened()).toBe(2);
  });

  test('that become free go to who still waits, and not to who has given up', async () => {
    const held: ((answer: Answer) => void)[] = [];
    const { clock, sessions } = scripted((text) =>
      text === 'hold' ? new Promise((resolve) => held.push(resolve)) : undefined,
    );
    const ask = (text: string) => sessions.use(({ run }) => run(text));
    const first = Promise.allSettled([ask('hold'), ask('hold')]);
    await clock.advance(100);
    const early = Promise.allSettled([ask('early')]);
    await clock.advance(600);
    // Both that hold are late by now, and so is who waited; who comes then finds room.
    await clock.advance(1_000);
    expect((await first).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await early;
    expect((await settled(clock, ask('late'))).status).toBe('fulfilled');
    expect(held).toHaveLength(2);
  });

  test('whose transaction cannot be taken back are used by nobody else', async () => {
    const { clock, sessions, closed } = scripted((text) =>
      text === 'update x' || text === 'rollback'
        ? Promise.reject(driverError('001003', 'refused', '42000'))
        : undefined,
    );
    const act = sessions.use((line) => line.transaction((run) => run('update x')));
    expect((await settled(clock, act)).status).toBe('rejected');
    expect(closed).toEqual([1]);
  });

  test('that are closed answer nobody any more', async () => {
    const { clock, sessions, closed } = scripted(() => undefined);
    await settled(
      clock,
      sessions.use(({ run }) => run('select 1')),
    );
    await sessions.close();
    expect(closed).toEqual([1]);
    const late = await settled(
      clock,
      sessions.use(({ run }) => run('select 1')),
    );
    expect(late).toMatchObject({ reason: expect.any(StoreUnreachableError) });
  });
});

describe('an error of the driver', () => {
  test.each([
    ['000625', StoreBusyError, 'number of waiters exceeds the 20 statements limit'],
    ['000627', StoreBusyError, 'waiting for this lock is limited to 5 s'],
    ['200001', DuplicateKeyError, 'Primary key already exists'],
    ['390111', SessionOverError, 'Session no longer exists'],
    ['390114', SessionOverError, 'Authentication token has expired'],
    ['401004', SessionOverError, 'Session token expired'],
    ['407002', SessionOverError, 'terminated connection'],
    ['390100', StoreOptionsError, 'Incorrect username or password'],
    ['391404', StoreOptionsError, 'HYBRID TABLE is not supported'],
    ['002003', StoreSchemaError, "Object 'STEP_TRACKER' does not exist"],
    ['000604', StoreUnreachableError, 'SQL execution canceled'],
    ['000630', StoreUnreachableError, 'Statement reached its timeout'],
    ['100100', DuplicateKeyError, 'Duplicate key value violates unique constraint "SYS_INDEX_1"'],
    ['300002', StoreBusyError, 'Deadlock detected'],
    ['001003', StoreRefusedError, 'SQL compilation error'],
  ])('%s means %o', (code, type, message) => {
    expect(meaningOf(driverError(code, message))).toBeInstanceOf(type);
  });

  test('that is none of the account leaves open what has happened', () => {
    expect(meaningOf(new Error('socket hang up'))).toBeInstanceOf(StoreUnreachableError);
  });
});

describe('the address of an account', () => {
  const WHOLE = 'snowflake://fleet@org-acct/APP/PUBLIC?warehouse=W&role=R&key=/k.p8';

  test('says everything but secrets', () => {
    expect(readSnowflakeWay(WHOLE, {})).toMatchObject({
      account: 'org-acct',
      user: 'fleet',
      database: 'APP',
      schema: 'PUBLIC',
      warehouse: 'W',
      role: 'R',
      auth: { by: 'key', file: '/k.p8' },
      tables: undefined,
    });
  });

  test.each([
    ['snowflake://org-acct/APP/PUBLIC?key=/k', /must name user, account, database and schema/],
    ['snowflake://u@org-acct/APP?key=/k', /must name user, account, database and schema/],
    ['snowflake://u@org-acct/APP/PUBLIC', /one of key and token/],
    ['snowflake://u:p@org-acct/APP/PUBLIC?key=/k', /one of key and token/],
    [`${WHOLE}&tables=some`, /tables must be hybrid or standard/],
    [`${WHOLE}&wharehouse=W`, /knows no "wharehouse"/],
    ['snowflake://u@org-acct/APP/PUBLIC?token=/t&auth=jwt', /auth must be oauth or pat/],
  ])('%s is refused', (address, message) => {
    expect(() => readSnowflakeWay(address, {})).toThrow(message);
  });
});
