/**
 * What the routes ask: the journal of this process, live; what the store holds of everybody's runs; and
 * the machines that are known here. Since pods cannot reach each other, whatever is told of a run says
 * where it comes from and of when it is.
 */
import type { Clock, Codec, Random } from '../../ground/index.ts';
import type { FleetPort, MachineInfo, RunReader } from '../fleet-port.ts';
import type { LiveHub } from '../live/index.ts';
import type { Shared } from './shared.ts';

export interface Desk {
  readonly clock: Clock;
  readonly random: Random;
  /** What is known of the process: its pid, its version, since when it is up. */
  readonly about: object;
  /** This process, where it executes runs. */
  readonly fleet: FleetPort | undefined;
  /** A journal to look at: this process's own, or a file that nobody holds. */
  readonly journal: RunReader | undefined;
  /** Everybody who looks on. */
  readonly live: LiveHub;
  readonly machines: readonly MachineInfo[];
  /** The tables that pods share. */
  readonly shared: Shared | undefined;
  /** Names of what nobody is shown. */
  readonly redacted: readonly string[];
  readonly bodyBytesMax: number;
  /** Opens what pods have sealed, and seals what a fork begins with. */
  readonly codec: Codec;
}
