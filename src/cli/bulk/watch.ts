/** fleetq bulk watch <id>: how far it is, until it is over. */
import type { BulkView } from '../../fleet/index.ts';
import { pause, systemClock } from '../../ground/index.ts';
import type { Store, StoreReader } from '../../store/index.ts';
import type { Execute } from '../command.ts';
import { Exit, type ExitCode } from '../exit.ts';
import { withStore } from '../fleet/open.ts';
import { Live, progressText } from '../fleet/progress.ts';
import { readTimeout } from '../input.ts';
import type { Io } from '../io.ts';
import type { Output } from '../output.ts';
import { bulkIdOf, findIn } from './find.ts';
import { showBulk } from './look.ts';

const LOOK_EVERY_MS = 500;

interface Watching {
  readonly timeoutMs: number;
  readonly output: Output;
  readonly io: Io;
  /** A line of JSON for every change, and not for the last alone. */
  readonly isTelling?: boolean;
}

export const watch: Execute = async ({ config, output, io }, options, text) => {
  const id = bulkIdOf(text);
  const timeoutMs = readTimeout(options['timeout']);
  return withStore(config, (store) =>
    watchUntilOver(store, id, { timeoutMs, output, io, isTelling: true }),
  );
};

/** Ends when it is over, or when nobody is at it any more. */
export async function watchUntilOver(
  store: Store,
  id: string,
  watching: Watching,
): Promise<ExitCode> {
  const reader = await store.openReader();
  const live = new Live(watching.io);
  try {
    return await follow(reader, id, watching, live);
  } finally {
    live.end();
    await reader.close();
  }
}

async function follow(
  reader: StoreReader,
  id: string,
  { timeoutMs, output, isTelling }: Watching,
  live: Live,
): Promise<ExitCode> {
  const begunMs = systemClock.monotonicMs();
  let told = '';
  for (;;) {
    const view = await findIn(reader, id);
    const elapsedMs = systemClock.monotonicMs() - begunMs;
    const isLate = elapsedMs >= timeoutMs;
    const isLast = view.endedAt !== undefined || view.isStalled || isLate;
    const text = JSON.stringify(view);
    if (output.isJson && (isLast || (isTelling && text !== told))) output.line(text);
    told = text;
    if (isLast) {
      live.end();
      if (!output.isJson) showBulk(view, output);
      return codeOf(view, output);
    }
    live.draw(lineOf(view));
    await pause(systemClock, Math.min(LOOK_EVERY_MS, Math.max(0, timeoutMs - elapsedMs)));
  }
}

function lineOf({
  fraction,
  status,
  isUnmanned,
  done,
  requested,
  already,
  refused,
  createdAt,
}: BulkView): string {
  const count = done + requested + already + refused;
  const elapsedMs = Math.max(1, systemClock.now() - createdAt);
  const state = isUnmanned ? `${status}, no pod is up` : status;
  return `${state}  ${progressText({ count, verb: 'of them', elapsedMs }, fraction)}`;
}

function codeOf({ id, status, isStalled, endedAt }: BulkView, output: Output): ExitCode {
  if (status === 'completed') return Exit.ok;
  if (status === 'cancelled') return Exit.runFailed;
  if (isStalled) {
    output.note(`nobody is at it: its run has ended. Go on with: fleetq bulk resume ${id}`);
    return Exit.failure;
  }
  if (endedAt === undefined) output.note(`${id} has not ended yet and goes on: it is ${status}`);
  return Exit.timedOut;
}
