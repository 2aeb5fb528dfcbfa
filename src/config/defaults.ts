/** The values that hold where nobody says otherwise. */
export const DEFAULTS = {
  dataDir: './.fleetq',
  slots: 64,
  retention: '7d',
  resultBytesMax: 1024 * 1024,
  activeRunsMax: 200_000,
  drainBudget: '25s',
  archive: '5s',
  logLevel: 'info',
  logFormat: 'auto',
  logPhases: 'debug',
  telemetryDetail: 'safe',
} as const;
