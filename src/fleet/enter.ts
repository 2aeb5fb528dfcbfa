/**
 * How a life takes its place in the fleet: its heart is made ready, the store registers it, and where
 * another process lives with the same journal it ends again. A try that fails leaves nothing behind.
 */
import type { Json } from '../ground/index.ts';
import type { JournalSeen } from '../store/index.ts';
import { announceMachines } from './announce.ts';
import type { Life } from './life.ts';
import type { PodPorts } from './options.ts';
import type { Rivals } from './rivals.ts';

/** A life that the store knows, and what it knew of the journal before. */
export interface Entry {
  readonly life: Life;
  readonly seen: JournalSeen;
}

export interface Entering {
  readonly life: Life;
  /** Names this very life: its heartbeats go on from there. */
  readonly nonce: string;
  readonly rivals: Rivals;
  readonly isStopping: () => boolean;
  /** Runs go on here already: they have to stop where another process has the journal. */
  readonly onRival?: (() => void) | undefined;
}

export async function checkTables(ports: PodPorts): Promise<void> {
  if (ports.isWarm?.()) return;
  await ports.store.checkSchema();
  await announceMachines(ports);
}

/** Nothing where the process stops meanwhile. */
export async function enter(
  { store, journal, name, routes, times, version }: PodPorts,
  { life, nonce, rivals, isStopping, onRival }: Entering,
): Promise<Entry | undefined> {
  let seen: JournalSeen;
  try {
    // Before the registration: from then on the fleet counts how long this pod is silent.
    await life.ready();
    if (isStopping()) {
      life.abandon();
      return undefined;
    }
    journal.owners.add([life.id]);
    seen = await store.register({
      pod: life.id,
      name,
      journal: journal.id,
      boot: journal.boot,
      lsn: journal.lsn,
      routes: routes.own,
      report: { version } satisfies Json,
      nonce,
      silenceMs: times.silentMs,
    });
  } catch (error) {
    life.abandon();
    throw error;
  }
  // A drain that came meanwhile has ended the life before, and knows nothing of this one.
  if (isStopping()) {
    await life.end(0).catch(() => life.abandon());
    return undefined;
  }
  await rivals.refuse(life, seen, onRival);
  return { life, seen };
}
