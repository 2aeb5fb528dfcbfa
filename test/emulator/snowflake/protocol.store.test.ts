/** The driver and the account agree: logins, tokens, requests that come twice, statements in doubt. */
import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Client, connect } from './driver.ts';
import { type EmulatedSnowflake, startSnowflake } from './index.ts';

const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const { privateKey: otherKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const pem = (key: typeof privateKey) => key.export({ type: 'pkcs8', format: 'pem' }).toString();

let account: EmulatedSnowflake;
let client: Client;

beforeAll(async () => {
  account = await startSnowflake({
    account: {
      publicKey: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
      accessToken: 'a-token',
    },
  });
  client = await connect(account.options);
  await client.run('create table t (id varchar(9) not null, n number(9,0) not null)');
});

beforeEach(async () => {
  account.chaos.calm();
  await client.run('delete from t');
  await client.run(`insert into t (id, n) values ('a', 0)`);
  account.statements.reset();
});

afterAll(async () => {
  await client?.close();
  await account?.stop();
});

const add = `update t set n = n + 1 where id = 'a'`;
const added = async () => (await client.run('select n from t')).rows[0]!['N'];

describe('a login', () => {
  const by = (more: object) => {
    const { password: _, ...rest } = account.options;
    return connect({ ...rest, ...more });
  };

  test('by key pair is let in with the right key only', async () => {
    const jwt = { authenticator: 'SNOWFLAKE_JWT' };
    await (await by({ ...jwt, privateKey: pem(privateKey) })).close();
    await expect(by({ ...jwt, privateKey: pem(otherKey) })).rejects.toMatchObject({
      code: '390144',
    });
  });

  test('by a token that names our key and is signed with another is refused', async () => {
    const der = publicKey.export({ type: 'spki', format: 'der' });
    const print = `SHA256:${createHash('sha256').update(der).digest('base64')}`;
    const claims = { iss: `EMULATOR.FLEETQ.${print}`, sub: 'EMULATOR.FLEETQ' };
    const login = async (key: typeof privateKey) => {
      const signed = [{ alg: 'RS256', typ: 'JWT' }, claims]
        .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
        .join('.');
      const TOKEN = `${signed}.${sign('RSA-SHA256', Buffer.from(signed), key).toString('base64url')}`;
      const data = { LOGIN_NAME: 'FLEETQ', AUTHENTICATOR: 'SNOWFLAKE_JWT', TOKEN };
      const answer = await fetch(`${account.options.accessUrl}/session/v1/login-request`, {
        method: 'POST',
        body: JSON.stringify({ data }),
      });
      return (await answer.json()) as object;
    };
    expect(await login(privateKey)).toMatchObject({ success: true });
    expect(await login(otherKey)).toMatchObject({ success: false, code: '390144' });
  });

  test('by token is let in with the right token only', async () => {
    await (await by({ authenticator: 'OAUTH', token: 'a-token' })).close();
    await (await by({ authenticator: 'PROGRAMMATIC_ACCESS_TOKEN', token: 'a-token' })).close();
    await expect(by({ authenticator: 'OAUTH', token: 'another' })).rejects.toThrow();
  });

  test('by password is let in with the right one only', async () => {
    await expect(connect({ ...account.options, password: 'x' })).rejects.toMatchObject({
      code: '390100',
    });
  });
});

describe('a session', () => {
  test('whose token has expired goes on: the driver renews it, and the statement runs once', async () => {
    account.expireTokens();
    expect((await client.run(add)).count).toBe(1);
    account.chaos.expireTokens = { share: 1 };
    const first = client.run(add);
    await vi.waitFor(() => expect(account.statements.total).toBe(1));
    account.chaos.calm();
    expect((await first).count).toBe(1);
    expect(await added()).toBe(2);
  });

  test('that is not authorized gets no answer, though the driver calls itself connected', async () => {
    account.chaos.unauthorized = { share: 1 };
    expect(await client.refusalOf(add)).toMatchObject({ code: '401004' });
    expect(client.connection.isUp()).toBe(true);
    account.chaos.calm();
    expect(await added()).toBe(0);
  });

  test('whose master token has expired is over', async () => {
    const other = await connect(account.options);
    account.expireMasters();
    await other.refusalOf('select 1');
    client = await connect(account.options);
  });

  test('that the account has forgotten is over, and its transaction undone', async () => {
    const other = await connect(account.options);
    await other.run('begin');
    await other.run(add);
    await account.endSessions();
    const { code } = await other.refusalOf('select 1');
    expect(code).toBe('407002');
    expect(other.connection.isUp()).toBe(false);
    client = await connect(account.options);
    expect(await added()).toBe(0);
  });
});

describe('an answer that is lost', () => {
  test.each(['503', 'reset'] as const)(
    'with %s is asked for again, and given again',
    async (how) => {
      account.chaos.dropAnswers = { share: 1, how };
      expect((await client.run(add)).count).toBe(1);
      account.chaos.calm();
      expect(account.statements).toMatchObject({ total: 1, repeated: 1 });
      expect(await added()).toBe(1);
    },
  );

  test('with 400 leaves the driver without one, though the statement has run', async () => {
    account.chaos.dropAnswers = { share: 1, how: '400' };
    expect(await client.refusalOf(add)).toMatchObject({ code: '401002', sqlState: undefined });
    account.chaos.calm();
    expect(await added()).toBe(1);
  });

  test('for ever leaves it waiting, though the statement has run', async () => {
    account.chaos.dropAnswers = { share: 1, how: 'hang' };
    const other = await connect({ ...account.options, timeout: 60_000 });
    void other.run(add).catch(() => undefined);
    await vi.waitFor(async () => expect(await added()).toBe(1), { timeout: 90_000 });
    account.chaos.calm();
  });

  test('before it was carried out is asked for again, too', async () => {
    account.chaos.dropRequests = { share: 1, how: '429' };
    const running = client.run(add);
    account.chaos.random = () => {
      account.chaos.calm();
      return 0;
    };
    expect((await running).count).toBe(1);
    expect(account.statements).toMatchObject({ total: 1, repeated: 0 });
    account.chaos.random = Math.random;
  });
});

test('a statement that takes long is answered later, by its id', async () => {
  account.chaos.latencyMs = [300, 300];
  account.chaos.inProgressAfterMs = 50;
  expect((await client.run(add)).count).toBe(1);
});

test('a statement that is cancelled while it stands in line has done nothing', async () => {
  const other = await connect(account.options);
  await other.run('begin');
  await other.run(add);
  const refused = new Promise<{ code?: unknown }>((resolve) => {
    const statement = client.connection.execute({
      sqlText: add,
      complete: (error) => resolve(error as { code?: unknown }),
    });
    void vi
      .waitFor(() => expect(account.waitersOf('t')).toBe(1), { timeout: 90_000 })
      .then(() => statement.cancel(() => undefined));
  });
  expect(String((await refused).code)).toBe('000604');
  await other.run('commit');
  expect(await added()).toBe(1);
  await other.close();
});

test('statements are counted, and so is the time of a warehouse', async () => {
  const { statements } = account;
  await client.run(add);
  await client.run(add);
  await client.run('select 1 as one');
  await client.run(`select system$last_change_commit_time('T') as at`);
  expect(statements).toMatchObject({ total: 4, withoutWarehouse: 2, failed: 0 });
  expect(statements.byVerb).toEqual({ UPDATE: 2, SELECT: 2 });
  expect(statements.byText.get(add)).toBe(2);
  expect(statements.warehouseSeconds).toBeGreaterThanOrEqual(60);
  expect(statements.warehouseSeconds).toBeLessThan(90);
  account.advance(3_600_000);
  await client.run(add);
  expect(statements.warehouseSeconds).toBeLessThan(180);
  expect(statements.warehouseSeconds).toBeGreaterThanOrEqual(120);
});

test('an account without hybrid tables says so: 391404', async () => {
  const trial = await startSnowflake({ kind: 'standard', postgres: account.postgres });
  const other = await connect(trial.options);
  const text = 'create hybrid table h (id varchar(9) not null, primary key (id))';
  expect(await other.refusalOf(text)).toMatchObject({ code: '391404' });
  await other.close();
  await trial.stop();
});
