/**
 * Whoever takes spans, in a process of its own: OTLP over HTTP, as JSON or protobuf. It says its port
 * on stdout and answers what it got: /spans those that came as JSON, /raw every body as it came.
 */
import { createServer } from 'node:http';

const spans = [];
const bodies = [];

const plainOf = (value) =>
  value.stringValue ?? value.boolValue ?? value.doubleValue ?? Number(value.intValue ?? Number.NaN);
const attributesOf = (list = []) =>
  Object.fromEntries(list.map(({ key, value }) => [key, plainOf(value)]));

function take(text) {
  for (const { resource, scopeSpans } of JSON.parse(text).resourceSpans ?? []) {
    for (const { scope, spans: some } of scopeSpans) {
      for (const span of some) {
        spans.push({
          traceId: span.traceId,
          spanId: span.spanId,
          parentSpanId: span.parentSpanId || undefined,
          name: span.name,
          kind: span.kind,
          scope: scope.name,
          startMs: Number(BigInt(span.startTimeUnixNano) / 1_000n) / 1_000,
          endMs: Number(BigInt(span.endTimeUnixNano) / 1_000n) / 1_000,
          attributes: attributesOf(span.attributes),
          resource: attributesOf(resource.attributes),
          isError: span.status?.code === 2,
          message: span.status?.message,
          links: (span.links ?? []).map((link) => ({
            traceId: link.traceId,
            spanId: link.spanId,
            why: attributesOf(link.attributes)['fleetq.link'],
          })),
          events: (span.events ?? []).map(({ name, attributes }) => ({
            name,
            attributes: attributesOf(attributes),
          })),
        });
      }
    }
  }
}

const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    const body = Buffer.concat(chunks);
    if (request.method === 'POST') {
      bodies.push(body);
      if (request.headers['content-type'] === 'application/json') take(body.toString());
      response.setHeader('content-type', request.headers['content-type'] ?? 'text/plain');
      return response.end(request.headers['content-type'] === 'application/json' ? '{}' : '');
    }
    if (request.url === '/raw') return response.end(Buffer.concat(bodies));
    response.end(JSON.stringify(spans));
  });
});
server.listen(Number(process.argv[2] ?? 0), '127.0.0.1', () => {
  process.stdout.write(`${server.address().port}\n`);
});
process.stdin.on('end', () => process.exit(0)).resume();
