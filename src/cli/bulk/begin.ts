/** fleetq bulk begin <what> <filter…>: does it to every task that the filter finds, as a run of the fleet. */
import { BULK_RATE, type BulkPreview, bulkOf, previewBulk } from '../../fleet/index.ts';
import { show } from '../../ground/index.ts';
import { showFilter } from '../../query/index.ts';
import {
  BULK_COUNT_MAX,
  BULK_RATE_MAX,
  BULK_WHATS,
  type BulkDeed,
  type NewBulk,
  type Store,
} from '../../store/index.ts';
import type { Execute, Options } from '../command.ts';
import { UsageError } from '../errors.ts';
import { Exit, type ExitCode } from '../exit.ts';
import { readFilter } from '../filter.ts';
import { mintBulk, reasonOf, requestIdOf, whoami } from '../fleet/acting.ts';
import { refuseTasksStatuses } from '../fleet/list-tasks.ts';
import { withStore } from '../fleet/open.ts';
import { readDue, readWait } from '../input.ts';
import type { Output } from '../output.ts';
import { countOf } from '../runs.ts';
import { isConfirmed, isFinal, refuseUnasked } from './confirm.ts';
import { find } from './find.ts';
import { watchUntilOver } from './watch.ts';

const FLAGS = [
  '--rate',
  '--limit',
  '--reason',
  '--run-at',
  '--fresh',
  '--dry-run',
  '--yes',
  '--wait',
];

export const begin: Execute = async ({ config, output, io }, options, what, ...words) => {
  const filter = readFilter(words.flat(), [...FLAGS, '--timeout', '--request-id', '--json']);
  refuseTasksStatuses(filter);
  const timeoutMs = readWait(options);
  const bulk = bulkOf(
    {
      deed: deedOf(what!, options),
      filter: showFilter(filter),
      isMasked: false,
      rate: rateOf(options['rate']),
      countMax:
        options['limit'] === undefined
          ? undefined
          : countOf(options['limit'], '--limit', BULK_COUNT_MAX),
      requestId: requestIdOf(options['requestId']),
      who: whoami(),
      via: 'cli',
    },
    mintBulk,
  );
  const isDryRun = options['dryRun'] === true;
  const asks = isFinal(what!) && options['yes'] !== true && !isDryRun;
  if (asks) refuseUnasked(what!, io);
  return withStore(config, async (store) => {
    if (isDryRun) return tryOut(await preview(store, bulk), bulk, output);
    if (asks && !(await isConfirmed(what!, await preview(store, bulk), { io, output }))) {
      return Exit.failure;
    }
    const { bulk: begun, isRepeated } = await store.beginBulk(bulk);
    if (isRepeated) output.note(`had been begun by this request: ${begun.id}`);
    if (options['wait'] === true) return watchUntilOver(store, begun.id, { timeoutMs, output, io });
    if (output.isJson) output.json({ ...(await find(store, begun.id)), isRepeated });
    else output.line(begun.id);
    output.note(`follow it with: fleetq bulk watch ${begun.id}`);
    return Exit.ok;
  });
};

async function preview(store: Store, bulk: NewBulk): Promise<BulkPreview> {
  const reader = await store.openReader();
  try {
    return await previewBulk(bulk, reader, (act) => store.act(act));
  } finally {
    await reader.close();
  }
}

function tryOut(found: BulkPreview, { filter }: NewBulk, output: Output): ExitCode {
  if (output.isJson) output.json({ isDryRun: true, filter, ...found });
  else say(found, output);
  return found.count > 0 ? Exit.ok : Exit.nothingFound;
}

function say({ count, isExact, sample }: BulkPreview, output: Output): void {
  for (const { task, machine, status, answer, becomes, why } of sample) {
    const came = why === undefined ? `${answer}: ${becomes}` : `refused, ${why}`;
    output.line(`${task}  ${machine}  ${status}  ${came}`);
  }
  const more = count - sample.length;
  if (more > 0) output.note(`… and ${isExact ? '' : 'at least '}${more.toLocaleString('en')} more`);
  output.note(
    `only tried: nothing was changed; ${isExact ? '' : 'at least '}` +
      `${count.toLocaleString('en')} tasks fit the filter`,
  );
}

/** `50`, or `50/s`. */
export function rateOf(text: unknown): number {
  if (text === undefined) return BULK_RATE;
  const [, digits] = /^(\d{1,9})(?:\/s)?$/.exec(String(text)) ?? [];
  const value = Number(digits);
  if (value >= 1 && value <= BULK_RATE_MAX) return value;
  throw new UsageError(
    `--rate must be 1 to ${BULK_RATE_MAX} tasks a second, like 50/s, got ${show(text)}`,
  );
}

/** Which flag belongs to which deed. */
const OWN = { reason: 'cancel', runAt: 'reschedule', fresh: 'redrive' } as const;

function deedOf(what: string, options: Options): BulkDeed {
  const known = BULK_WHATS.find((each) => each === what);
  if (!known) {
    throw new UsageError(`what is done must be one of ${BULK_WHATS.join(', ')}, got ${show(what)}`);
  }
  for (const [flag, of] of Object.entries(OWN)) {
    if (options[flag] !== undefined && of !== known) {
      const name = flag === 'runAt' ? 'run-at' : flag;
      throw new UsageError(`--${name} is for ${of}, not for ${known}`);
    }
  }
  switch (known) {
    case 'cancel':
      return { what: known, reason: reasonOf(options['reason']) };
    case 'reschedule': {
      const due = readDue(options['runAt']);
      if (due) return { what: known, due };
      throw new UsageError("--run-at is missing: a duration such as '10m', or a time");
    }
    case 'redrive':
      return { what: known, isFresh: options['fresh'] === true };
    default:
      return { what: known };
  }
}
