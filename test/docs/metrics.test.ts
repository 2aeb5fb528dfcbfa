/** The page of metrics and the catalogue are one: names, types, labels, who shows them, what they mean. */
import { expect, test } from 'vitest';
import { CATALOGUE } from '../../src/telemetry/metrics/catalogue.ts';
import { openMetrics } from '../../src/telemetry/metrics/index.ts';
import { SinkMetrics } from '../../src/telemetry/metrics/sink-metrics.ts';
import { readPage } from './markdown.ts';

const BY = { pod: 'every pod', leader: 'the leader', sink: 'the sink' } as const;

test('every metric is on the page, as it is, and none is there that does not exist', () => {
  const rows = readPage('docs/reference/metrics.md')
    .split('\n')
    .filter((line) => /^\| `(fleetq|nodejs)_/.test(line));
  const expected = Object.entries(CATALOGUE).map(
    ([name, { type, labels, by, help }]) =>
      `| \`${name}\` | ${type} | ${labels.map((label) => `\`${label}\``).join(', ')} | ${BY[by]} | ${help} |`,
  );
  expect(rows).toEqual(expected);
});

test('every metric of the catalogue is registered, and no other of ours', async () => {
  const metrics = openMetrics({ fleet: () => undefined });
  const ofSink = new SinkMetrics({ lagMs: () => undefined });
  const text = `${(await metrics.text()).text}\n${(await ofSink.text()).text}`;
  metrics.stop();
  const types = new Map(
    [...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)].map(([, name, type]) => [name!, type!]),
  );
  const ours = [...types].filter(([name]) => name.startsWith('fleetq_') || name in CATALOGUE);
  expect(Object.fromEntries(ours)).toEqual(
    Object.fromEntries(Object.entries(CATALOGUE).map(([name, { type }]) => [name, type])),
  );
});
