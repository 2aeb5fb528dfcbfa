/** Queues, paused machines, and what is in the way of one task, as a reader sees them. */
import {
  GATE_PODS_MAX,
  type Gate,
  type Gated,
  type PausedMachine,
  type QueueRow,
} from '../queues.ts';
import { selectGate, selectPausedMachines, selectQueues } from './limits.sql.ts';
import type { Row } from './pool.ts';

interface Asking {
  query(text: string, values?: readonly unknown[]): Promise<Row[]>;
}

export async function queuesBy(pool: Asking): Promise<QueueRow[]> {
  return (await pool.query(selectQueues)).map((row) => ({
    queue: row['queue'] as string,
    pending: row['pending'] as number,
    waiting: row['waiting'] as number,
    claimed: row['claimed'] as number,
    dueAt: (row['due_at'] ?? undefined) as number | undefined,
    ...limitOf(row),
  }));
}

export async function pausedMachinesBy(pool: Asking): Promise<PausedMachine[]> {
  return (await pool.query(selectPausedMachines)).map(pausedOf);
}

export async function gateBy(pool: Asking, task: Gated): Promise<Gate> {
  const { id, machine, queue, serialKey = null } = task;
  const [row = {}] = await pool.query(selectGate, [queue, machine, serialKey, id, GATE_PODS_MAX]);
  const [limit, paused] = [row['queue'] as Row | null, row['machine'] as Row | null];
  const claimed = row['claimed'] as number;
  const isLimited = typeof limit?.['max_claimed'] === 'number';
  return {
    queue: limit ? { queue, claimed, ...limitOf(limit) } : undefined,
    claimedBy: isLimited ? ((row['owners'] ?? []) as Gate['claimedBy']) : [],
    pausedMachine: paused ? pausedOf(paused) : undefined,
    holder: (row['holder'] ?? undefined) as Gate['holder'],
  };
}

function limitOf(row: Row): Pick<QueueRow, 'limit' | 'isPaused' | 'pausedBy' | 'pausedAt'> {
  return {
    limit: (row['max_claimed'] ?? undefined) as number | undefined,
    isPaused: row['paused'] as boolean,
    pausedBy: (row['paused_by'] ?? undefined) as string | undefined,
    pausedAt: (row['paused_at'] ?? undefined) as number | undefined,
  };
}

function pausedOf(row: Row): PausedMachine {
  return {
    machine: row['machine'] as string,
    pausedBy: (row['paused_by'] ?? undefined) as string | undefined,
    pausedAt: row['paused_at'] as number,
  };
}
