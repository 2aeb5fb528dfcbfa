/** Who is let in, from where, how often, and what they are shown. */
import { get, request } from 'node:http';
import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { isLoopback } from '../../src/admin/door/sites.ts';
import { refuseOpen } from '../../src/admin/serve.ts';
import { aesCodec, newCodecKey, parseCodecKeys } from '../../src/ground/index.ts';
import { createFleet } from '../../src/index.ts';
import { fingerprintOf } from '../../src/query/index.ts';
import { useTempDirs } from '../support/temp-dir.ts';
import { CANARY, type House, login, send, useHouses } from './house.ts';

const openHouse = useHouses();
const newDir = useTempDirs();
const RUNS = '/api/v1/runs';

async function startSecret(house: House, machine: string): Promise<string> {
  const { id } = await house.fleet.enqueueByName(machine, { n: 1, secret: CANARY });
  const status = async () => (await house.fleet.store.find([id]))[0]?.finishedAt;
  await expect.poll(status, { timeout: 90_000 }).toBeDefined();
  return id;
}

describe('without tokens', () => {
  test('only loopback addresses are listened on', () => {
    for (const host of ['127.0.0.1', 'localhost', '::1', '127.3.2.1']) {
      expect(() => refuseOpen(host, [])).not.toThrow();
    }
    for (const host of ['', '0.0.0.0', '::', '10.0.0.7', 'example.org', '127.0.0.1.evil.example']) {
      expect(() => refuseOpen(host, [])).toThrow(/without a token it answers on loopback alone/);
    }
    expect(isLoopback('::ffff:127.0.0.1')).toBe(true);
  });

  test('an address is enough to listen on loopback, and not to listen everywhere', async () => {
    const open = (address: string) =>
      createFleet({ machines: [], dataDir: newDir(), listen: { address } });
    const fleet = await open('127.0.0.1:0');
    await fleet.stopNow();
    await expect(open(':0')).rejects.toThrow(/without a token it answers on loopback alone/);
  });

  test('everybody on the host may do everything, and is shown payloads', async () => {
    const house = await openHouse({ grants: [] });
    const id = await startSecret(house, 'test/double');
    expect((await house.ask('GET', `${RUNS}/${id}`)).body.input.secret).toBe(CANARY);
    expect((await house.ask('GET', '/api/v1/session')).body).toMatchObject({
      role: 'admin',
      by: 'loopback',
    });
  });

  test('what a proxy passes on is not from this host', async () => {
    const house = await openHouse({ grants: [] });
    for (const name of ['x-forwarded-for', 'forwarded', 'via', 'x-real-ip']) {
      const told = await house.ask('GET', RUNS, { headers: { [name]: '203.0.113.9' } });
      expect([name, told.status, told.body.code]).toEqual([name, 403, 'FLEETQ_BAD_HOST']);
    }
  });

  test('a name that is led here by a foreign DNS is refused, on every method', async () => {
    const house = await openHouse({ grants: [], hosts: ['fleet.example'] });
    for (const host of [
      'evil.example',
      'evil.example:7433',
      '127.0.0.1.evil.example',
      'a b',
      '[::2]',
    ]) {
      for (const method of ['GET', 'POST']) {
        const told = await house.ask(method, RUNS, { headers: { host } });
        expect([host, told.status, told.body.code]).toEqual([host, 403, 'FLEETQ_BAD_HOST']);
      }
    }
    for (const host of [
      'localhost:1',
      '127.0.0.1',
      '[::1]:80',
      'fleet.example',
      'FLEET.example:8',
    ]) {
      expect((await house.ask('GET', RUNS, { headers: { host } })).status).toBe(200);
    }
  });
});

describe('pages of other sites', () => {
  const foreign: readonly Readonly<Record<string, string>>[] = [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: 'http://127.0.0.1:1' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'same-origin', origin: 'http://evil.example' },
  ];

  test.each(foreign)(
    '%j is refused, looking as well as changing, whoever is logged in',
    async (of) => {
      const house = await openHouse({ grants: [['ada', 'admin', true]] });
      const session = await login(house, 'ada');
      const before = await house.digest();
      for (const headers of [session, house.as('ada')]) {
        for (const method of ['GET', 'POST']) {
          const body = { machine: 'test/double', input: { n: 1 } };
          const given = method === 'GET' ? {} : { body };
          const told = await house.ask(method, RUNS, { headers: { ...headers, ...of }, ...given });
          expect([method, told.status, told.body.code]).toEqual([method, 403, 'FLEETQ_CROSS_SITE']);
        }
      }
      expect(await house.digest()).toBe(before);
    },
  );

  test('our own page is answered', async () => {
    const house = await openHouse();
    const own = { origin: `http://${house.at}`, 'sec-fetch-site': 'same-origin', host: house.at };
    expect(
      (await house.ask('GET', RUNS, { headers: { ...house.as('ruth'), ...own } })).status,
    ).toBe(200);
  });

  test('forms cannot send what is read: only JSON that says so', async () => {
    const house = await openHouse({ grants: [] });
    const body = '{"machine":"test/double","input":{"n":1}}';
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'application/jsonx',
      'a b',
    ]) {
      const told = await house.ask('POST', RUNS, { body, headers: { 'content-type': type } });
      expect([type, told.status]).toEqual([type, 415]);
    }
  });

  test('no answer allows another site anything', async () => {
    const house = await openHouse();
    for (const [method, path] of [
      ['GET', RUNS],
      ['OPTIONS', RUNS],
      ['GET', '/'],
      ['GET', '/api/v1/x'],
    ]) {
      const { headers } = await house.ask(method!, path!, {
        headers: { origin: `http://${house.at}` },
      });
      expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
      expect(headers['content-security-policy']).toContain("default-src 'none'");
      expect(headers['content-security-policy']).toContain("frame-ancestors 'none'");
      expect(headers['x-content-type-options']).toBe('nosniff');
      expect(headers['cache-control']).toBe('no-store');
    }
  });
});

test('who has guessed what a masked error says does not see it in a fingerprint', async () => {
  const house = await openHouse();
  await startSecret(house, 'test/failing');
  const headers = house.as('ruth');
  const ask = async (path: string) => (await house.ask('GET', `/api/v1${path}`, { headers })).body;
  const guess = { machine: 'test/failing', name: 'Error', message: `no good: ${CANARY}` };
  const guessed = fingerprintOf(guess);
  const { groups } = await ask('/errors');
  const { fingerprint } = groups[0];
  expect(fingerprint).not.toBe(guessed);
  expect(fingerprint).toBe(fingerprintOf({ machine: guess.machine, name: guess.name }));
  const lists = [
    `/runs/count?filter=error:`,
    `/dead-letters?filter=error:`,
    `/errors?filter=error:`,
  ];
  for (const list of lists) {
    const found = async (word: string) => JSON.stringify(await ask(`${list}${word}`));
    expect(await found(guessed)).toBe(await found('0123456789abcdef'));
    expect(await found(fingerprint)).not.toBe(await found('0123456789abcdef'));
  }
});

test('a status that there is none of is refused, and bounds are told', async () => {
  const house = await openHouse();
  const refused = async (path: string) => {
    const { status, body } = await house.ask('GET', `/api/v1${path}`, {
      headers: house.as('ruth'),
    });
    return `${status} ${body.detail} ${body.hint ?? ''}`;
  };
  for (const path of ['/runs?', '/runs/count?', '/runs/histogram?from=0&until=1&']) {
    expect(await refused(`${path}status=faled`)).toMatch(/^400 .*no status .*did you mean failed/);
  }
  expect(await refused('/runs?limit=501')).toMatch(/^400 .*must be 1 to 500; got/);
  expect(await refused('/runs?limit=many')).toMatch(/^400 .*must be a whole number, 1 to 500/);
});

describe('sessions', () => {
  test('a token is given once for a cookie that scripts and other sites cannot use', async () => {
    const house = await openHouse();
    const asked = { body: { token: house.secrets['olga'] } };
    const { status, headers, body, text } = await house.ask('POST', '/api/v1/session', asked);
    expect(status).toBe(201);
    const [cookie = ''] = headers['set-cookie'] ?? [];
    expect(cookie).toMatch(
      /^fleetq_session=[\w.-]+; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict$/,
    );
    expect(cookie + text).not.toContain(house.secrets['olga']);
    expect(body).toMatchObject({ name: 'olga', role: 'operate', by: 'session' });
    const secure = await house.ask('POST', '/api/v1/session', {
      ...asked,
      headers: { origin: 'https://fleet.example', host: 'fleet.example' },
    });
    expect(secure.headers['set-cookie']?.[0]).toMatch(/; Secure$/);
  });

  test('a wrong token opens none, and what was logged out or changed opens nothing', async () => {
    const house = await openHouse();
    const wrong = await house.ask('POST', '/api/v1/session', { body: { token: 'fq_nonsense' } });
    expect([wrong.status, wrong.headers['set-cookie']]).toEqual([401, undefined]);
    const session = await login(house, 'ada');
    const changed = session['cookie']!.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'));
    expect((await house.ask('GET', RUNS, { headers: { cookie: changed } })).status).toBe(401);
    expect((await house.ask('GET', RUNS, { headers: session })).status).toBe(200);
    const more = { cookie: `${session['cookie']}.x` };
    expect((await house.ask('GET', RUNS, { headers: more })).status).toBe(401);
    expect((await house.ask('DELETE', '/api/v1/session', { headers: session })).status).toBe(200);
    for (const headers of [session, more]) {
      expect((await house.ask('GET', RUNS, { headers })).status).toBe(401);
    }
  });

  test('one that was logged out at one process is over at every other, and its streams end', async () => {
    const house = await openHouse();
    const other = await house.beside();
    const session = await login(house, 'ada');
    const ask = (at: string) => send(at, 'GET', RUNS, { headers: session });
    expect((await ask(other)).status).toBe(200);
    const streams = [house.at, other].map((at) => streamOf(at, session));
    await Promise.all(streams.map(({ begun }) => begun));
    const out = await house.ask('DELETE', '/api/v1/session', { headers: session });
    expect(out.body).toEqual({ isEnded: true });
    expect((await ask(house.at)).status).toBe(401);
    await expect.poll(async () => (await ask(other)).status, { timeout: 90_000 }).toBe(401);
    for (const text of await Promise.all(streams.map(({ ended }) => ended))) {
      expect(text).toContain('event: bye\ndata: {"why":"session"}');
    }
    const reader = await house.fleet.store.openReader();
    const { rows } = await reader.audit({ what: 'logout', countMax: 10 });
    expect(rows).toMatchObject([{ who: 'ada', what: 'logout' }]);
    await reader.close();
  });

  test("one session's csrf value is no good for another's", async () => {
    const house = await openHouse();
    const [one, two] = [await login(house, 'ada'), await login(house, 'ada')];
    const headers = { cookie: one['cookie']!, 'x-fleetq-csrf': two['x-fleetq-csrf']! };
    expect(
      (await house.ask('POST', '/api/v1/drain', { headers, body: { dryRun: true } })).status,
    ).toBe(403);
  });
});

describe('how often', () => {
  test('who asks too often waits, as long as is said, and nobody else does', async () => {
    const house = await openHouse({ isLimited: true });
    const told = [];
    for (let count = 0; count < 60; count++) {
      told.push(await house.ask('GET', '/api/v1/status', { headers: house.as('ruth') }));
    }
    const refused = told.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThan(0);
    expect(refused[0]!.body.code).toBe('FLEETQ_TOO_MANY_REQUESTS');
    expect(Number(refused[0]!.headers['retry-after'])).toBeGreaterThan(0);
    expect((await house.ask('GET', '/api/v1/status', { headers: house.as('olga') })).status).toBe(
      200,
    );
  });

  test('who guesses tokens is slowed down, and keeps nobody with a token out', async () => {
    const house = await openHouse({ isLimited: true });
    const headers = { authorization: `Bearer fq_${'1'.repeat(64)}` };
    const codes = new Set<number>();
    for (let count = 0; count < 40; count++) {
      codes.add((await house.ask('GET', RUNS, { headers })).status);
    }
    expect([...codes].sort()).toEqual([401, 429]);
    expect((await house.ask('GET', RUNS, { headers: house.as('ruth') })).status).toBe(200);
  });
});

describe('payloads', () => {
  const places = (id: string) => [
    `${RUNS}/${id}`,
    `${RUNS}/${id}/events`,
    `${RUNS}/${id}/context`,
    `${RUNS}/${id}/result`,
    RUNS,
    '/api/v1/dead-letters',
    '/api/v1/errors',
    '/api/v1/audit',
  ];

  test('are masked everywhere where there are tokens, for admins as well', async () => {
    const house = await openHouse();
    for (const machine of ['test/double', 'test/failing']) {
      const id = await startSecret(house, machine);
      await house.ask('POST', `${RUNS}/${id}/cancel`, {
        headers: house.as('ada'),
        body: { reason: CANARY },
      });
      for (const path of places(id)) {
        const told = await house.ask('GET', path, { headers: house.as('ada') });
        expect([path, told.status]).toEqual([path, 200]);
        expect([path, told.text.includes(CANARY)]).toEqual([path, false]);
        // By it a reason could be guessed at.
        expect([path, told.text.includes('"digest"')]).toEqual([path, false]);
      }
    }
  });

  test('are not found by what they say where they are masked', async () => {
    const house = await openHouse();
    await startSecret(house, 'test/failing');
    const count = async (filter: string) => {
      const path = `${RUNS}/count?filter=${encodeURIComponent(filter)}`;
      return (await house.ask('GET', path, { headers: house.as('ruth') })).body.count;
    };
    expect(await count('"test/fail"')).toBe(1);
    expect(await count(`"${CANARY.slice(0, 4)}"`)).toBe(0);
    expect(await count(`machine:test/failing -"${CANARY}"`)).toBe(1);
  });

  test('a run that is not there is not said to have been revealed', async () => {
    const house = await openHouse();
    const headers = { ...house.as('rev'), accept: 'text/event-stream' };
    const told = await house.ask('GET', `${RUNS}/the-ceo/events?reveal=true`, { headers });
    expect(told.status).toBe(404);
    const audit = await house.ask('GET', '/api/v1/audit', { headers: house.as('ada') });
    expect(audit.body.rows).toEqual([]);
  });

  test('a secret that is named by its way is hidden wherever an output is', async () => {
    const house = await openHouse({ grants: [], redact: ['card.number'] });
    const id = await startSecret(house, 'test/nested');
    const { events } = (await house.ask('GET', `${RUNS}/${id}/events`)).body;
    expect(JSON.stringify(events.slice(1))).not.toContain(CANARY);
    const { outputs, ending } = (await house.ask('GET', `${RUNS}/${id}/context`)).body;
    expect(JSON.stringify([outputs, ending])).not.toContain(CANARY);
  });

  test('what is sealed, and cannot be opened here, has no context', async () => {
    const codec = aesCodec(parseCodecKeys(newCodecKey('may'), 'the test'));
    const house = await openHouse({ grants: [], codec });
    const id = await startSecret(house, 'test/double');
    const told = await house.ask('GET', `${RUNS}/${id}/context?source=store`);
    expect([told.status, told.body.code]).toEqual([409, 'FLEETQ_KEY_MISSING']);
    expect(told.body.detail).toContain('sealed with key may');
  });

  test('are shown to who may and asks for it, and each time leaves its row', async () => {
    const house = await openHouse();
    const id = await startSecret(house, 'test/failing');
    const shown = ['', '/events', '/context'].map((part) => `${RUNS}/${id}${part}?reveal=true`);
    // A name that is used for all of them hides none.
    const headers = { ...house.as('rev'), 'idempotency-key': 'mine' };
    for (const path of shown) {
      expect((await house.ask('GET', path, { headers: house.as('ada') })).status).toBe(403);
      const told = await house.ask('GET', path, { headers });
      expect([path, told.text.includes(CANARY)]).toEqual([path, true]);
    }
    const { rows } = (
      await house.ask('GET', '/api/v1/audit?what=reveal', { headers: house.as('ada') })
    ).body;
    expect(rows.map((row: { who: string; task: string }) => [row.who, row.task])).toEqual(
      shown.map(() => ['rev', id]),
    );
  });

  test('are masked in streams as well', async () => {
    const house = await openHouse();
    const id = await startSecret(house, 'test/failing');
    const [, host = '', port = ''] = /^(.*):(\d+)$/.exec(house.at) ?? [];
    const path = `/api/v1/stream?topics=runs,run:${id}`;
    const text = await new Promise<string>((resolve, reject) => {
      const asked = get({ host, port, path, headers: house.as('ada'), agent: false }, (answer) => {
        expect(answer.headers['content-type']).toContain('text/event-stream');
        expect(answer.headers['content-security-policy']).toContain("default-src 'none'");
        let told = '';
        answer.setEncoding('utf8').on('data', (part) => {
          told += part;
          // The record that tells why it failed has come.
          if (!/"EXHAUSTED"/.test(told)) return;
          asked.destroy();
          resolve(told);
        });
      });
      asked.on('error', reject);
    });
    expect(text).toContain('"isMasked":true');
    expect(text).not.toContain(CANARY);
  });

  test('what was named as secret is shown to nobody', async () => {
    const house = await openHouse({ grants: [], redact: ['secret'] });
    const id = await startSecret(house, 'test/double');
    for (const path of places(id).slice(0, 4)) {
      expect((await house.ask('GET', path)).text).not.toContain(CANARY);
    }
  });
});

describe('limits', () => {
  const post = (house: House, body: string) =>
    house.ask('POST', RUNS, { headers: house.as('ada'), body });

  test('a body may be neither large nor deep nor wide', async () => {
    const house = await openHouse();
    const deep = `{"machine":"test/double","input":${'['.repeat(70)}${']'.repeat(70)}}`;
    const wide = `{"machine":"test/double","input":{${Array.from({ length: 10_001 }, (_, i) => `"${i}":1`)}}}`;
    expect((await post(house, deep)).body.detail).toContain('nested deeper than 64');
    expect((await post(house, wide)).body.detail).toMatch(/more than 10000 properties|larger than/);
    const large = await post(house, JSON.stringify({ machine: 'x'.repeat(200_000) }));
    expect([large.status, large.body.code]).toEqual([413, 'FLEETQ_TOO_LARGE']);
  });

  test('an address may not be long, and headers not large', async () => {
    const house = await openHouse();
    const long = await house.ask('GET', `${RUNS}?filter=${'x'.repeat(9_000)}`, {
      headers: house.as('ada'),
    });
    expect([long.status, long.body.code]).toEqual([414, 'FLEETQ_URL_TOO_LONG']);
    const [, host = '', port = ''] = /^(.*):(\d+)$/.exec(house.at) ?? [];
    const answer = await new Promise<string>((resolve) => {
      let text = '';
      const socket = connect(Number(port), host, () => {
        socket.write(`GET ${RUNS} HTTP/1.1\r\nhost: x\r\nx: ${'y'.repeat(40_000)}\r\n\r\n`);
      });
      socket.on('data', (chunk) => {
        text += chunk;
      });
      socket.on('close', () => resolve(text)).on('error', () => undefined);
    });
    expect(answer).toMatch(/^HTTP\/1\.1 431 /);
  });

  test('names that mean something to JavaScript mean nothing here', async () => {
    const house = await openHouse();
    const input = '{"n":1,"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}';
    await post(house, `{"machine":"test/double","input":${input}}`);
    const own = await post(house, '{"machine":"test/double","__proto__":{"polluted":1}}');
    expect([own.status, own.body.code]).toEqual([400, 'FLEETQ_BAD_REQUEST']);
    for (const query of ['__proto__=1', 'constructor=1', 'toString=1']) {
      const told = await house.ask('GET', `${RUNS}?${query}`, { headers: house.as('ada') });
      expect(told.status).toBe(400);
    }
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  test('what is not known is refused, with what may have been meant', async () => {
    const house = await openHouse();
    const query = await house.ask('GET', `${RUNS}?limt=1`, { headers: house.as('ada') });
    expect([query.status, query.body.hint]).toEqual([
      400,
      expect.stringContaining('did you mean limit?'),
    ]);
    const body = await post(house, '{"machin":"x"}');
    expect([body.status, body.body.hint]).toEqual([
      400,
      expect.stringContaining('did you mean machine?'),
    ]);
    const twice = await house.ask('GET', `${RUNS}?limit=1&limit=2`, { headers: house.as('ada') });
    expect(twice.status).toBe(400);
    const accept = { ...house.as('ada'), accept: 'application/xml' };
    expect((await house.ask('GET', RUNS, { headers: accept })).status).toBe(406);
    const method = await house.ask('DELETE', RUNS, { headers: house.as('ada') });
    expect([method.status, method.headers.allow]).toEqual([405, 'GET, POST']);
  });
});

/** A stream, and all that it says until it ends. */
function streamOf(at: string, headers: Readonly<Record<string, string>>) {
  const path = '/api/v1/stream?topics=runs';
  const [host = '', port = ''] = at.split(':');
  let begin: () => void;
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const ended = new Promise<string>((resolve, reject) => {
    let text = '';
    const sent = request({ host, port, path, headers, agent: false }, (answer) => {
      answer.setEncoding('utf8').on('data', (part) => {
        text += part;
        begin();
      });
      answer.on('end', () => resolve(text));
    });
    sent.on('error', reject).end();
  });
  return { begun, ended };
}
