/** The HTTP API by the command line: served without executing, with tokens, described. */
import { expect, test } from 'vitest';
import { send } from '../admin/house.ts';
import { begin, fleetq, usePlaces } from './in-process.ts';

const { makeDirectory, makePlace } = usePlaces();

test('a token is printed once with its line, and lets its owner in by its role', async () => {
  const { cwd, env } = await makePlace();
  const made = await fleetq(cwd, ['token', 'new', '--name', 'alice', '--role', 'read', '--json']);
  const { secret, grant } = JSON.parse(made.stdout) as { secret: string; grant: string };
  expect(grant).toMatch(/^alice:read:[0-9a-f]{64}$/);
  expect(grant).not.toContain(secret);
  const args = ['admin', '--json', '--listen', '127.0.0.1:0'];
  const served = begin(cwd, args, { env: { ...env, FLEETQ_TOKENS: grant } });
  const [line] = await served.said(/\{.*"kind":"ready".*\}/);
  const { listening } = JSON.parse(line!) as { listening: string };
  const headers = { authorization: `Bearer ${secret}` };
  expect((await send(listening, 'GET', '/api/v1/runs', {})).status).toBe(401);
  const runs = await send(listening, 'GET', '/api/v1/runs', { headers });
  expect([runs.status, runs.body.runs]).toEqual([200, []]);
  const start = { headers, body: { machine: 'double', input: {} } };
  expect((await send(listening, 'POST', '/api/v1/runs', start)).status).toBe(403);
  const wrong = { headers: { authorization: 'Bearer fq_nonsense' } };
  expect((await send(listening, 'GET', '/api/v1/runs', wrong)).status).toBe(401);
  const { body } = await send(listening, 'POST', '/api/v1/session', { body: { token: secret } });
  expect(body.name).toBe('alice');
  served.signal('SIGTERM');
  const ended = await served.ended;
  expect(ended.code).toBe(0);
  expect(ended.stderr).toContain('somebody came with a token that nobody has here');
  expect(ended.stderr).not.toContain('fq_nonsense');
});

test('an address that others reach is refused without a token, with what to do', async () => {
  const place = await makePlace();
  const ended = await place.run('admin', '--json', '--listen', '0.0.0.0:0');
  expect(ended.code).toBe(2);
  const told = JSON.parse(ended.stderr.trim().split('\n').at(-1)!);
  expect(told.error).toMatchObject({
    code: 'FLEETQ_LISTEN_OPEN',
    hint: expect.stringContaining('fleetq token new'),
  });
});

test('a token that is no token is refused without being shown', async () => {
  const env = { FLEETQ_TOKENS: 'fq_verysecret' };
  const ended = await fleetq(makeDirectory(), ['admin', '--json'], { env });
  expect(ended.code).toBe(2);
  expect(ended.stderr).toContain('FLEETQ_CONFIG');
  expect(ended.stderr).not.toContain('verysecret');
});

test('openapi prints the document', async () => {
  const { code, stdout } = await fleetq(makeDirectory(), ['openapi', '--json']);
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ openapi: '3.1.0', info: { title: 'FleetQ' } });
});
