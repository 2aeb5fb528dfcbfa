/**
 * A secret in every place where users' code and settings may put one: the logs and metrics of a real
 * process have none of it, and its log has it where that is asked for.
 */
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { makePlace } from '../cli/fleet-support.ts';
import { begin, makeDirectory } from '../cli/support.ts';

const CANARY = 'canary-5d1e8c';

const MACHINES = fileURLToPath(new URL('./machines/leaks.mjs', import.meta.url));

/** Runs all of it in a worker; answers what it has logged, and what it tells a scraper. */
async function witness(detail: string | undefined) {
  const place = await makePlace();
  const env = {
    ...place.env,
    FLEETQ_MACHINES: MACHINES,
    FLEETQ_LOG_LEVEL: 'debug',
    FLEETQ_LOG_FORMAT: 'json',
    ...(detail === undefined ? {} : { FLEETQ_TELEMETRY_DETAIL: detail }),
  };
  const args = ['worker', '--json', '--health-listen', '127.0.0.1:0'];
  const worker = begin(args, { cwd: place.cwd, env, timeoutMs: 60_000 });
  const [ready] = await worker.said(/^\{.*"kind":"ready".*\}$/m);
  await Promise.all(
    ['leaking', 'aborting', 'returning', 'picky'].map((name) => {
      const input = JSON.stringify({ secret: CANARY });
      const key = ['--key', `${CANARY}-${name}`];
      const command = ['enqueue', `test/${name}`, '--input', input, ...key, '--wait'];
      return begin(command, { cwd: place.cwd, env }).ended;
    }),
  );
  const headers = { authorization: `Bearer ${CANARY}`, cookie: CANARY, baggage: `a=${CANARY}` };
  const at = `http://${JSON.parse(ready).health}/metrics?token=${CANARY}`;
  const texts = await Promise.all(
    ['text/plain', 'application/openmetrics-text'].map(async (accept) =>
      (await fetch(at, { headers: { ...headers, accept } })).text(),
    ),
  );
  worker.child.kill('SIGTERM');
  const { stderr, stdout } = await worker.ended;
  return { logs: `${stderr}${stdout}`, metrics: texts.join('\n') };
}

const countOf = (text: string) => text.split(CANARY).length - 1;

test('a secret in input, output, key, error and headers is in no log line and no metric', async () => {
  const { logs, metrics } = await witness(undefined);
  // What happened is all there.
  expect(logs).toMatch(/"event":"phase\.ended".*"outcome":"retried".*"type":"TypeError"/);
  expect(logs.match(/"dead_letter":true/g)).toHaveLength(3);
  expect(logs).toContain('"event":"run.started"');
  expect(metrics).toMatch(
    /fleetq_dead_letters_total\{machine="test\/leaking",outcome="exhausted"\} 1/,
  );
  expect(metrics).toContain('# EOF');
  expect(countOf(logs)).toBe(0);
  expect(countOf(metrics)).toBe(0);
});

test('with full detail the log has what the error says, and metrics have nothing of it still', async () => {
  const { logs, metrics } = await witness('full');
  expect(logs).toContain(`cannot use ${CANARY}`);
  expect(countOf(logs)).toBeGreaterThan(3);
  expect(countOf(metrics)).toBe(0);
});

test('the password of a store that is away is in none of the lines that say so', async () => {
  const env = {
    FLEETQ_STORE_URL: `postgres://fleet:${CANARY}@127.0.0.1:1/none`,
    FLEETQ_MACHINES: MACHINES,
    FLEETQ_LOG_LEVEL: 'debug',
    FLEETQ_LOG_FORMAT: 'json',
    FLEETQ_TELEMETRY_DETAIL: 'full',
  };
  const args = ['worker', '--json', '--health-listen', '127.0.0.1:0'];
  const worker = begin(args, { cwd: makeDirectory(), env, timeoutMs: 60_000 });
  const [ready] = await worker.said(/^\{.*"kind":"ready".*\}$/m);
  const metrics = await fetch(`http://${JSON.parse(ready).health}/metrics`);
  const text = await metrics.text();
  worker.child.kill('SIGTERM');
  const { stderr, stdout } = await worker.ended;
  expect(stderr).toMatch(/"event":"store\.failed".*ECONNREFUSED/);
  expect(text).toMatch(/fleetq_store_errors_total\{call="\w+",code="unreachable"\} [1-9]/);
  expect(countOf(`${stderr}${stdout}${text}`)).toBe(0);
});
