/**
 * fleetq sink --store … --to snowflake://…: what the store holds, and then whatever changes, into an
 * archive, until SIGTERM. Of several processes one sends, and the next takes over when it is gone.
 */
import { hostname } from 'node:os';
import { HealthServer } from '../../admin/index.ts';
import {
  type Duration,
  isoTime,
  parseDuration,
  show,
  showDuration,
  systemClock,
  systemRandom,
} from '../../ground/index.ts';
import { StoreSchemaError } from '../../store/index.ts';
import { Forwarder, type Sent } from '../../store/sink/forwarder.ts';
import { openSink, openSinkSource } from '../../store/sink/open-sink.ts';
import type { SinkSource } from '../../store/sink/sink.ts';
import type { Context, Execute, Options } from '../command.ts';
import { UsageError } from '../errors.ts';
import { Exit, type ExitCode } from '../exit.ts';
import { storeAddress, storeOptions } from '../fleet/open.ts';
import type { Io } from '../io.ts';
import { Sending } from './sending.ts';

const NAME = /^[a-z0-9][a-z0-9._-]{0,99}$/i;
const DEADLINE_MS_MIN = 1_000;
/** Of the deadline: whatever was sent is over on the other side long before. */
const LEASE_SHARE = 2.5;

export const sink: Execute = async (context, options) => {
  const { config } = context;
  const name = nameOf(options);
  const everyMs = durationOf(options, 'every', '1m');
  const deadlineMs = durationOf(options, 'deadline', '30s');
  if (deadlineMs < DEADLINE_MS_MIN) throw new UsageError('--deadline must be at least 1s');
  const to = options['to'];
  if (typeof to !== 'string' && options['forget'] !== true) {
    throw new UsageError('where the archive is, is missing', {
      hint: 'add --to snowflake://user@account/database/schema?warehouse=…&key=…',
    });
  }
  const source = await openSinkSource(storeAddress(config), storeOptions(config));
  try {
    if (options['forget'] === true) return await forget(context, source, name);
    return await send(context, options, source, { name, everyMs, deadlineMs, to: String(to) });
  } finally {
    await source.close();
  }
};

async function forget({ output }: Context, source: SinkSource, name: string): Promise<ExitCode> {
  const wasThere = await source.forget(name);
  const kept = (await source.sinks()).find((known) => known.name === name);
  if (kept?.isHeld) {
    throw new UsageError(`the sink ${name} is sent by ${kept.holder}, and was not forgotten`, {
      hint: 'end that process first; where it was killed, wait until its lease is over',
    });
  }
  if (output.isJson) output.json({ name, wasThere });
  else output.note(wasThere ? `retention waits for ${name} no longer` : `nobody knows ${name}`);
  return wasThere ? Exit.ok : Exit.nothingFound;
}

interface Wanted {
  readonly name: string;
  readonly everyMs: number;
  readonly deadlineMs: number;
  readonly to: string;
}

async function send(
  { config, output, io }: Context,
  options: Options,
  source: SinkSource,
  { name, everyMs, deadlineMs, to }: Wanted,
): Promise<ExitCode> {
  const ports = { clock: systemClock, random: systemRandom };
  const archive = await openSink(to, { ...ports, name, deadlineMs });
  let health: HealthServer | undefined;
  try {
    const isToMake = options['migrate'] === true;
    await archive.prepare(isToMake);
    await prepareSource(source, isToMake);
    const sending = new Sending({
      clock: systemClock,
      everyMs,
      retryMs: deadlineMs,
      isOnce: options['once'] === true,
      forwarderWith: (onSent: (sent: Sent) => void) =>
        new Forwarder({
          source,
          sink: archive,
          as: { name, target: placeOf(to), holder: holderOf() },
          clock: systemClock,
          leaseMs: deadlineMs * LEASE_SHARE,
          isAnew: options['again'] === true,
          isForced: options['takeOver'] === true,
          onSent,
        }),
      tell: (told) => {
        if (output.isJson) output.line(JSON.stringify({ at: isoTime(systemClock.now()), ...told }));
        else output.note(textOf(told));
      },
    });
    if (config.healthListen !== undefined) {
      const { SinkMetrics } = await import('../../telemetry/metrics/sink-metrics.ts');
      const metrics = new SinkMetrics({ lagMs: () => sending.lagMs });
      sending.metrics = metrics;
      const whyNotReady = () => undefined;
      health = new HealthServer({ listen: config.healthListen, metrics, whyNotReady });
      output.note(`answering on http://${await health.start()}`);
    }
    return await untilSignalled(sending, io);
  } finally {
    await health?.stop();
    await archive.close();
  }
}

async function prepareSource(source: SinkSource, isToMake: boolean): Promise<void> {
  if (await source.prepare(isToMake)) return;
  throw new StoreSchemaError('the store has no indexes for a sink', {
    hint: 'run fleetq sink once with --migrate, as a role that owns the tables',
  });
}

async function untilSignalled(sending: Sending, { signals }: Io): Promise<ExitCode> {
  const onSignal = () => sending.stop();
  signals.on('SIGINT', onSignal).on('SIGTERM', onSignal);
  try {
    await sending.run();
    return Exit.ok;
  } finally {
    signals.off('SIGINT', onSignal).off('SIGTERM', onSignal);
  }
}

function textOf(told: Readonly<Record<string, unknown>>): string {
  const behind = (ms: unknown) => (typeof ms === 'number' ? `, ${showDuration(ms)} behind` : '');
  switch (told['kind']) {
    case 'sent':
      return `sent ${told['events']} events and ${told['tasks']} tasks${behind(told['lagMs'])}`;
    case 'held':
      return 'another process sends, or its lease is not over; waiting';
    case 'failed':
      return `not sent: ${told['message']}; again in ${showDuration(Number(told['againMs']))}`;
    default:
      return String(told['kind']);
  }
}

/** For people who look which process has it; and never the same again. */
function holderOf(): string {
  return `${hostname()}:${process.pid}:${systemRandom.hex(4)}`;
}

/** Without user and secrets. */
function placeOf(address: string): string {
  const url = new URL(address);
  return `snowflake://${url.host}${url.pathname}`;
}

function nameOf(options: Options): string {
  const name = options['name'] ?? 'default';
  if (typeof name === 'string' && NAME.test(name)) return name;
  throw new UsageError(`--name must be letters, digits, dots and dashes, got ${show(name)}`);
}

function durationOf(options: Options, name: string, otherwise: Duration): number {
  const text = options[name] ?? otherwise;
  const ms = parseDuration(text as Duration);
  if (ms !== undefined && ms > 0) return ms;
  throw new UsageError(`--${name} must be a duration such as '${otherwise}', got ${show(text)}`);
}
