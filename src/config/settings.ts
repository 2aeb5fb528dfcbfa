/** Every value that can be configured: its names, its default, and what may be written for it. */
import {
  type CodecKeys,
  DURATION_WANTED,
  type Duration,
  parseDuration,
  show,
  unfitRedaction,
} from '../ground/index.ts';
import { readCodecKeys } from './codec.ts';
import { DEFAULTS } from './defaults.ts';
import { ConfigError } from './errors.ts';
import { readTokens } from './tokens.ts';

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];
export const LOG_FORMATS = ['auto', 'json', 'pretty'] as const;
export type LogFormat = (typeof LOG_FORMATS)[number];

/** At which level the end of a phase is logged. */
export const LOG_PHASES = ['debug', 'info'] as const;
export type LogPhases = (typeof LOG_PHASES)[number];

/** How much of what users' code says goes into logs and traces by itself. */
export const TELEMETRY_DETAILS = ['safe', 'full'] as const;
export type TelemetryDetail = (typeof TELEMETRY_DETAILS)[number];

export const CLAIM_MODES = ['skip-locked', 'cas'] as const;
export type ClaimMode = (typeof CLAIM_MODES)[number];

export const CHANGED_MACHINES = ['refuse', 'warn'] as const;

export const SWITCHES = ['on', 'off'] as const;

export interface Settings {
  /** Where the journal and the socket live. */
  readonly dataDir: string;
  /** What pods share; undefined: there is no fleet, and runs stay on this host. */
  readonly store: string | undefined;
  /** Where people's questions are answered, if not there: a replica. Nothing a pod does reads it. */
  readonly readStore: string | undefined;
  /** A file or a directory with machines; undefined: `machines/` here. */
  readonly machines: string | undefined;
  readonly slots: number;
  readonly retention: Duration;
  /** How long the audit log keeps what people did; undefined: for ever. */
  readonly auditRetention: Duration | undefined;
  readonly drainBudget: Duration;
  /** How long to wait for another process that holds the data directory, which is asked to drain. */
  readonly handover: Duration | undefined;
  readonly resultBytesMax: number;
  readonly activeRunsMax: number;
  /** For people; the host's name where nothing is said. */
  readonly podName: string | undefined;
  /** Where nothing is said the store knows what suits it. */
  readonly heartbeat: Duration | undefined;
  readonly silence: Duration | undefined;
  readonly archive: Duration;
  /** The way to the store goes through a pooler in transaction mode. */
  readonly pooled: boolean | undefined;
  /** A direct way to the same Postgres, for hints alone. */
  readonly listenUrl: string | undefined;
  readonly claimMode: ClaimMode | undefined;
  /** Connections that calls to the store have at a time. */
  readonly poolSize: number | undefined;
  /** What becomes of a pod whose machine was changed under an unchanged version. */
  readonly changedMachines: (typeof CHANGED_MACHINES)[number] | undefined;
  /** Where probes and metrics are answered; undefined: nowhere. */
  readonly healthListen: string | undefined;
  /** Where people and programs are answered; undefined: on the socket alone. */
  readonly listen: string | undefined;
  /** Who may come in there: name:role:hash, with commas between them. */
  readonly tokens: string | undefined;
  /** Names under which browsers may call this process, besides loopback ones. */
  readonly hosts: string | undefined;
  /** Signs the cookies of browsers; random for each process where nothing is said. */
  readonly sessionSecret: string | undefined;
  /** Whether runs are traced; where nothing is said the standard variables decide. */
  readonly otel: (typeof SWITCHES)[number] | undefined;
  readonly logLevel: LogLevel;
  /** `auto` is pretty on a terminal and JSON elsewhere. */
  readonly logFormat: LogFormat;
  /** The level of the line that tells the end of a phase: there may be thousands a second. */
  readonly logPhases: LogPhases;
  /** `safe`: what failed and where, by names and codes alone. `full`: messages and stacks as well. */
  readonly telemetryDetail: TelemetryDetail;
  /** Keys that seal payloads, results and errors; without any they are stored as they are. */
  readonly codec: CodecKeys | undefined;
  /** A file that has them, a line each. */
  readonly codecKeysFile: string | undefined;
  /** Whether tasks whose payload nobody has sealed are refused. */
  readonly codecRequired: boolean;
  /** Names and paths of what people are not shown of inputs, outputs and events. */
  readonly redact: readonly string[];
}
export type SettingName = keyof Settings;

/** Reads a value as a flag, a variable (text) or a config file (anything) gives it. */
type Read<T> = (value: unknown, where: string) => T;

const SETTING: { readonly [K in SettingName]: { default: Settings[K]; read: Read<Settings[K]> } } =
  {
    dataDir: { default: DEFAULTS.dataDir, read: path },
    store: { default: undefined, read: storeAddress },
    readStore: { default: undefined, read: storeAddress },
    machines: { default: undefined, read: path },
    slots: { default: DEFAULTS.slots, read: count(100_000) },
    retention: { default: DEFAULTS.retention, read: duration },
    auditRetention: { default: undefined, read: duration },
    drainBudget: { default: DEFAULTS.drainBudget, read: duration },
    handover: { default: undefined, read: duration },
    resultBytesMax: { default: DEFAULTS.resultBytesMax, read: count(64 * 1024 * 1024) },
    activeRunsMax: { default: DEFAULTS.activeRunsMax, read: count(10_000_000) },
    podName: { default: undefined, read: name },
    heartbeat: { default: undefined, read: duration },
    silence: { default: undefined, read: duration },
    archive: { default: DEFAULTS.archive, read: duration },
    pooled: { default: undefined, read: flag },
    listenUrl: { default: undefined, read: directAddress },
    claimMode: { default: undefined, read: oneOf(CLAIM_MODES) },
    poolSize: { default: undefined, read: count(1_000) },
    changedMachines: { default: undefined, read: oneOf(CHANGED_MACHINES) },
    healthListen: { default: undefined, read: address },
    listen: { default: undefined, read: address },
    tokens: { default: undefined, read: readTokens },
    hosts: { default: undefined, read: hostNames },
    sessionSecret: { default: undefined, read: secret },
    otel: { default: undefined, read: oneOf(SWITCHES) },
    logLevel: { default: DEFAULTS.logLevel, read: oneOf(LOG_LEVELS) },
    logFormat: { default: DEFAULTS.logFormat, read: oneOf(LOG_FORMATS) },
    logPhases: { default: DEFAULTS.logPhases, read: oneOf(LOG_PHASES) },
    telemetryDetail: { default: DEFAULTS.telemetryDetail, read: oneOf(TELEMETRY_DETAILS) },
    codec: { default: undefined, read: readCodecKeys },
    codecKeysFile: { default: undefined, read: path },
    codecRequired: { default: false, read: flag },
    redact: { default: [], read: redactions },
  };

export const SETTING_NAMES = Object.keys(SETTING) as readonly SettingName[];

export function defaultOf<K extends SettingName>(name: K): Settings[K] {
  return SETTING[name].default;
}

export function readSetting<K extends SettingName>(
  name: K,
  value: unknown,
  where: string,
): Settings[K] {
  return SETTING[name].read(value, where);
}

/** dataDir → FLEETQ_DATA_DIR */
export function variableOf(name: SettingName): string {
  // What a container is given is an address, and is called so everywhere.
  if (name === 'store') return 'FLEETQ_STORE_URL';
  if (name === 'readStore') return 'FLEETQ_READ_STORE_URL';
  // Its text is the keys, and a list of words must not be read as a kind of codec.
  if (name === 'codec') return 'FLEETQ_CODEC_KEYS';
  return `FLEETQ_${name.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;
}

/** dataDir → --data-dir */
export function flagOf(name: SettingName): string {
  return `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

function unfit(where: string, wanted: string, got: unknown): ConfigError {
  return new ConfigError(`${where} must be ${wanted}, got ${show(got)}`);
}

function path(value: unknown, where: string): string {
  if (typeof value === 'string' && value !== '' && !value.includes('\0')) return value;
  throw unfit(where, 'a path', value);
}

function count(max: number): Read<number> {
  return (value, where) => {
    const number = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value;
    if (Number.isSafeInteger(number) && (number as number) >= 1 && (number as number) <= max) {
      return number as number;
    }
    throw unfit(where, `a whole number from 1 to ${max}`, value);
  };
}

function duration(value: unknown, where: string): Duration {
  const read = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value;
  if (parseDuration(read) !== undefined) return read as Duration;
  throw unfit(where, DURATION_WANTED, value);
}

function oneOf<T extends string>(words: readonly T[]): Read<T> {
  return (value, where) => {
    if (words.includes(value as T)) return value as T;
    throw unfit(where, `one of ${words.join(', ')}`, value);
  };
}

function flag(value: unknown, where: string): boolean {
  if (value === true || value === 'true' || value === '1') return true;
  if (value === false || value === 'false' || value === '0') return false;
  throw unfit(where, 'true or false', value);
}

const NAME_LENGTH_MAX = 200;

function name(value: unknown, where: string): string {
  const isName = typeof value === 'string' && /^\S(.*\S)?$/.test(value);
  if (isName && value.length <= NAME_LENGTH_MAX) return value;
  throw unfit(where, `a name of 1 to ${NAME_LENGTH_MAX} characters`, value);
}

/** Whether it leads anywhere is found out by whoever opens it; what is wrong is told without secrets. */
function storeAddress(value: unknown, where: string): string {
  if (
    typeof value === 'string' &&
    /^(postgres(ql)?:\/\/|snowflake:\/\/|sqlite:|memory:$)/i.test(value)
  )
    return value;
  throw new ConfigError(
    `${where} must be an address such as postgres://user@host/database or sqlite:./fleet.db`,
  );
}

function directAddress(value: unknown, where: string): string {
  if (typeof value === 'string' && /^postgres(ql)?:\/\//i.test(value)) return value;
  throw new ConfigError(`${where} must be an address such as postgres://user@host/database`);
}

const REDACTION_COUNT_MAX = 1_000;

/** A list in a file; elsewhere names with a comma between. */
function redactions(value: unknown, where: string): readonly string[] {
  const names = typeof value === 'string' ? value.split(',').map((name) => name.trim()) : value;
  if (!Array.isArray(names) || names.length > REDACTION_COUNT_MAX) {
    throw unfit(where, "names and paths such as 'password,*.token'", value);
  }
  for (const name of names) {
    const wanted = unfitRedaction(name);
    if (wanted !== undefined) throw unfit(where, wanted, name);
  }
  return names;
}

/** 'fleet.example,fleet.internal', or a list of them. */
function hostNames(value: unknown, where: string): string {
  const names = (Array.isArray(value) ? value : String(value).split(',')).map((name) =>
    String(name).trim().toLowerCase(),
  );
  const isFit = names.length > 0 && names.every((name) => /^[a-z0-9._-]{1,253}$/.test(name));
  if (isFit) return names.join(',');
  throw unfit(where, "names of hosts without ports, such as 'fleet.example'", value);
}

const SECRET_LENGTH_MIN = 32;

/** What is wrong with it is told without what it is. */
function secret(value: unknown, where: string): string {
  if (typeof value === 'string' && value.length >= SECRET_LENGTH_MIN) return value;
  throw new ConfigError(`${where} must be a text of ${SECRET_LENGTH_MIN} characters or more`);
}

const PORT_MAX = 65_535;

/** '127.0.0.1:9090', '[::1]:9090', ':9090' for every interface. */
function address(value: unknown, where: string): string {
  const port =
    typeof value === 'string'
      ? /^(?:\[[0-9a-f:.]+\]|[\w.-]*):(\d{1,5})$/i.exec(value)?.[1]
      : undefined;
  if (port !== undefined && Number(port) <= PORT_MAX) return value as string;
  throw unfit(where, "an address such as '127.0.0.1:9090' or ':9090'", value);
}
