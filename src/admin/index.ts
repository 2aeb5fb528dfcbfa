/** The process as others reach it. Light: what answers requests is loaded with the first of them. */
export type { Desk } from './desk/desk.ts';
export { Shared, type SharedPort, type Starting } from './desk/shared.ts';
export { addressDoor, type Door, socketDoor } from './door/door.ts';
export { hashOfSecret, newSecret } from './door/tokens.ts';
export { ListenError, OpenListenError, SocketError } from './errors.ts';
export type { FleetPort, MachineInfo, RunReader } from './fleet-port.ts';
export { HealthListenError, type HealthOptions, HealthServer } from './health.ts';
export { LIMIT_MAX, refuseUnknown } from './limits.ts';
export { isWanted, listRuns, WANTED } from './list-runs.ts';
export {
  journalSources,
  LiveHub,
  type LiveOptions,
  type LiveStore,
  type LocalRuns,
  type Sources,
  type StreamAsked,
  type View,
} from './live/index.ts';
export { type Problem, RequestError } from './problem.ts';
export {
  aboutProcess,
  bodyBytesMaxOf,
  deskOf,
  type ListenOptions,
  listenOn,
  liveOf,
  serveFleet,
} from './serve.ts';
export { AdminServer } from './server.ts';
export { SOCKET_BYTES_MAX } from './socket-file.ts';
