/** Flags, environment, file and defaults → one frozen Config, parsed once. */

export { nearest } from '../ground/index.ts';
export { codecKeyIds, codecKeysIn, codecKeysText, codecOf } from './codec.ts';
export { DEFAULTS } from './defaults.ts';
export { ConfigError, LoadError } from './errors.ts';
export { faultOfOptions, namesOf, refuseUnknownOptions } from './known-options.ts';
export { loadModule, MODULE_EXTENSIONS } from './load-module.ts';
export {
  countOption,
  durationOption,
  faultOfKey,
  faultOfTaskKey,
  isStorable,
  KEY_LENGTH_MAX,
  keyOption,
} from './options.ts';
export { type Config, type Flags, pathFrom, readConfig } from './read-config.ts';
export {
  CLAIM_MODES,
  type ClaimMode,
  flagOf,
  LOG_FORMATS,
  LOG_LEVELS,
  LOG_PHASES,
  type LogFormat,
  type LogLevel,
  type LogPhases,
  SETTING_NAMES,
  type SettingName,
  type Settings,
  TELEMETRY_DETAILS,
  type TelemetryDetail,
  variableOf,
} from './settings.ts';
export { type Grant, grantsOf, ROLES, type Role, readTokens, showGrant } from './tokens.ts';
export { version } from './version.ts';
