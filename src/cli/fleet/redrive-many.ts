/**
 * fleetq dead-letters redrive with several tasks, or with all of a machine. Where a pod runs on this
 * host, below the data directory, it does so as runs of `recovery/redrive`, which go on whatever becomes
 * of the command. Otherwise the command does it itself; called again it does what is left.
 */
import type { Config } from '../../config/index.ts';
import type { RunId } from '../../ground/index.ts';
import { generationSeen, type Store, type TaskRow } from '../../store/index.ts';
import { RemoteError } from '../errors.ts';
import { Exit, type ExitCode } from '../exit.ts';
import type { Output } from '../output.ts';
import { type SocketClient, WAIT_MS } from '../socket-client.ts';
import { mintRequest, whoami } from './acting.ts';
import { podHere } from './local-pods.ts';

/** As many as one run is given. */
const BATCH_COUNT = 500;
const PAGE_COUNT = 500;

interface Redriven {
  readonly task: string;
  readonly generation: number;
}
interface Report {
  readonly by: 'pod' | 'command';
  /** The runs that do it, where a pod does. */
  readonly runs: readonly string[];
  readonly redriven: readonly Redriven[];
  /** No dead letters any more by the time it was their turn. */
  readonly left: readonly string[];
}

export interface Wanted {
  readonly tasks: readonly RunId[];
  readonly machine: string | undefined;
  readonly isFresh: boolean;
  readonly isDryRun: boolean;
}

export async function redriveMany(
  store: Store,
  { config, output }: { readonly config: Config; readonly output: Output },
  wanted: Wanted,
): Promise<ExitCode> {
  const { found, others } = await lettersOf(store, wanted);
  if (wanted.isDryRun) {
    if (output.isJson) output.json({ tasks: found.map(({ id }) => id), isRedriven: false });
    output.note(`${found.length} tasks would be redriven`);
    return found.length > 0 ? Exit.ok : Exit.nothingFound;
  }
  const report = await redriveAll(store, config, found, wanted.isFresh);
  const left = [...report.left, ...others];
  if (output.isJson) output.json({ ...report, left });
  else {
    for (const { task, generation } of report.redriven) {
      output.line(`${task} redriven as generation ${generation}`);
    }
  }
  for (const task of left) output.note(`${task} is no dead letter now`);
  if (found.length === 0 && others.length === 0) output.note('no dead letters');
  if (left.length > 0) return Exit.failure;
  return found.length > 0 ? Exit.ok : Exit.nothingFound;
}

/** Those that are wanted and are dead letters; and the ids of those that are wanted and are none. */
async function lettersOf(
  store: Store,
  { tasks, machine }: Wanted,
): Promise<{ readonly found: readonly TaskRow[]; readonly others: readonly string[] }> {
  if (machine === undefined) {
    const rows = new Map((await store.find(tasks)).map((row) => [row.id, row]));
    const isLetter = (row: TaskRow | undefined) =>
      row?.status === 'failed' && row.discardedAt === undefined;
    const unique = [...new Set(tasks)];
    return {
      found: unique.flatMap((id) => (isLetter(rows.get(id)) ? [rows.get(id)!] : [])),
      others: unique.filter((id) => !isLetter(rows.get(id))),
    };
  }
  const found: TaskRow[] = [];
  let before: string | undefined;
  for (;;) {
    const page = await store.list({ isDeadLetter: true, machine, before, countMax: PAGE_COUNT });
    found.push(...page);
    if (page.length < PAGE_COUNT) return { found, others: [] };
    before = page.at(-1)!.id;
  }
}

async function redriveAll(
  store: Store,
  config: Config,
  letters: readonly TaskRow[],
  isFresh: boolean,
): Promise<Report> {
  const client = letters.length > 0 ? await podHere(config.dataDir, store) : undefined;
  const seen = letters.map(({ id, generation }) => ({ task: id, generation }));
  if (!client) return { by: 'command', runs: [], ...(await byCommand(store, seen, isFresh)) };
  try {
    // All of them are on the pod's disk before the first is waited for.
    const runs: string[] = [];
    for (let at = 0; at < seen.length; at += BATCH_COUNT) {
      const tasks = seen.slice(at, at + BATCH_COUNT);
      runs.push((await client.start('recovery/redrive', { tasks, isFresh, who: whoami() })).id);
    }
    const done = await Promise.all(runs.map((id) => outputOf(client, id)));
    const redriven = done.flatMap((one) => one.redriven);
    return { by: 'pod', runs, redriven, left: done.flatMap((one) => one.left) };
  } finally {
    client.close();
  }
}

async function outputOf(client: SocketClient, id: string) {
  for (;;) {
    const run = await client.ended(id, WAIT_MS);
    if (run.outcome === undefined) continue;
    if (run.outcome === 'completed') {
      return run.output as unknown as Pick<Report, 'redriven' | 'left'>;
    }
    const detail = `the run ${id} of recovery/redrive ${run.outcome}: ${run.reason ?? ''}`;
    throw new RemoteError({ code: 'FLEETQ_RUN_FAILED', detail });
  }
}

async function byCommand(
  store: Store,
  seen: readonly { readonly task: RunId; readonly generation: number }[],
  isFresh: boolean,
): Promise<Pick<Report, 'redriven' | 'left'>> {
  const redriven: Redriven[] = [];
  const left: string[] = [];
  for (const { task, generation: before } of seen) {
    const answer = await store.act({
      requestId: mintRequest(),
      who: whoami(),
      via: 'cli',
      task,
      deed: { what: 'redrive', isFresh },
      ifRevision: generationSeen(before),
    });
    if (answer.kind === 'done') redriven.push({ task, generation: before + 1 });
    else left.push(task);
  }
  return { redriven, left };
}
