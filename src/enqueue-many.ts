/** Many tasks from a program: what it may say of each, and of all of them. */
import { namesOf, refuseUnknownOptions } from './config/known-options.ts';
import { countOption } from './config/options.ts';
import {
  enqueueMany,
  MANY_BATCH_MAX,
  type ManyBatch,
  type ManyPorts,
  type ManyReport,
  type Wanted,
} from './fleet/enqueue-many.ts';
import { BadItemError } from './fleet/errors.ts';
import { show } from './ground/index.ts';
import { ENQUEUE_OPTIONS, type EnqueueOptions, taskOptions } from './handles.ts';
import type { Plan } from './machine/index.ts';
import type { Tracing } from './telemetry/tracing.ts';
import { enqueueTraced } from './tracing.ts';

/** One of many: its input, and what else `enqueue` takes. */
export interface EnqueueItem<out I = unknown> extends Omit<EnqueueOptions, 'tx'> {
  readonly input: I;
}

/** Out of memory, a file, a query: whatever gives one after the other. */
export type EnqueueItems<I = unknown> = Iterable<EnqueueItem<I>> | AsyncIterable<EnqueueItem<I>>;

/** What is said for all of them holds for each that does not say otherwise. */
export interface EnqueueManyOptions extends Omit<EnqueueOptions, 'key'> {
  /** How many go to the store at once; 1,000 by default, and at most. */
  readonly batchMax?: number | undefined;
  /** Told of each batch that is there, and awaited before the next one is sent. */
  readonly onBatch?: ((batch: ManyBatch) => unknown) | undefined;
}

export type { ManyBatch, ManyReport };

export interface Enqueuing extends Pick<ManyPorts, 'tasks' | 'clock' | 'random'> {
  readonly retentionMs: number;
  readonly tracing: Pick<Tracing, 'enqueuing'> | undefined;
}

const { tx: _, ...OF_EACH } = ENQUEUE_OPTIONS;
const ITEM_NAMES = namesOf<EnqueueItem>({ ...OF_EACH, input: true });
const { key: __, ...OF_ALL } = ENQUEUE_OPTIONS;
const MANY_NAMES = namesOf<EnqueueManyOptions>({ ...OF_ALL, batchMax: true, onBatch: true });

/** In one span, where traces are on: the tasks are linked to that. */
export function enqueueAll(
  { tracing, retentionMs, ...ports }: Enqueuing,
  plan: Plan,
  items: EnqueueItems,
  options: EnqueueManyOptions = {},
): Promise<ManyReport> {
  refuseUnknownOptions(options, MANY_NAMES, 'enqueueMany');
  refuseNoItems(items);
  const { batchMax, onBatch, ...all } = options;
  const { tx, traceParent: given } = taskOptions(all, retentionMs);
  const most = countOption('batchMax', batchMax ?? MANY_BATCH_MAX, MANY_BATCH_MAX);
  return enqueueTraced(tracing, plan.name, given, (traceParent) => {
    const wanted = wantedOf(items, { ...all, traceParent }, retentionMs);
    return enqueueMany(ports, plan, wanted, { batchMax: most, onBatch, tx });
  });
}

/** As the fleet takes them; one that makes no sense is named by its number. */
async function* wantedOf(
  items: EnqueueItems,
  all: EnqueueOptions,
  retentionMs: number,
): AsyncGenerator<Wanted> {
  let index = 0;
  for await (const item of items) {
    yield wanted(item, all, retentionMs, index);
    index += 1;
  }
}

function wanted(
  item: EnqueueItem,
  all: EnqueueOptions,
  retentionMs: number,
  index: number,
): Wanted {
  try {
    refuseUnknownOptions(item, ITEM_NAMES, 'it');
    const { input, ...own } = item;
    return { input, options: taskOptions({ ...all, ...own }, retentionMs) };
  } catch (cause) {
    throw new BadItemError(index, cause);
  }
}

function refuseNoItems(items: unknown): void {
  const given = Object(items) as Partial<AsyncIterable<unknown> & Iterable<unknown>>;
  if (typeof items !== 'string' && (given[Symbol.asyncIterator] || given[Symbol.iterator])) return;
  throw new TypeError(
    `enqueueMany takes a list, a generator or a stream of { input, … }, got ${show(items)}`,
  );
}
