/** The process as others reach it: HTTP on a socket in the data directory. */
export { SocketError } from './errors.ts';
export type { FleetPort, MachineInfo, RunReader } from './fleet-port.ts';
export { HealthListenError, HealthServer } from './health.ts';
export { isWanted, listRuns, WANTED } from './list-runs.ts';
export {
  LiveHub,
  type LiveOptions,
  type LiveStore,
  type LocalRuns,
  type Sources,
  type StreamAsked,
  type View,
} from './live/index.ts';
export { type Problem, RequestError } from './problem.ts';
export { LIMIT_MAX, refuseUnknown } from './routes.ts';
export { serveFleet } from './serve.ts';
export { AdminServer, SOCKET_BYTES_MAX } from './server.ts';
