/**
 * A store whose texts pass a codec at the border: what comes out of this process is sealed, and what comes
 * in is opened. Adapters know nothing of it. The history needs nothing here: its records are sealed by the
 * journal that wrote them, and their chain is over what is stored.
 */
import { type Codec, identityCodec, sealedBytesMax } from '../ground/index.ts';
import type { Act } from './acts.ts';
import { digestOf, refuseUnbounded } from './audit.ts';
import { openBulk, sealingBulks } from './bulk/sealed.ts';
import type { StoreReader, TaskGlance } from './reader.ts';
import { openSchedule, sealingSchedules } from './schedule/sealed.ts';
import { PASSING, type Sealing } from './sealed-calls.ts';
import {
  openAudited,
  openClaimed,
  openControls,
  openError,
  openInput,
  openOutcome,
  openResult,
  sealDeed,
  sealError,
  sealInput,
  sealResult,
} from './sealed-texts.ts';
import type { Store } from './store.ts';
import type { EnqueueAnswer, NewTask, Settlement, TaskRow } from './tasks.ts';

export interface SealOptions {
  /** A task whose payload nobody has sealed is refused where it is claimed. */
  readonly isRequired?: boolean | undefined;
}

export function sealedStore(store: Store, codec: Codec, options: SealOptions = {}): Store {
  const sealing = sealingOf(store, codec, options.isRequired ?? false);
  return overlaid(store, sealing, PASSING);
}

/** The same object with some of its calls replaced; the rest is bound to what it was. */
function overlaid<T extends object>(
  target: T,
  over: Partial<T>,
  passing: Partial<Record<keyof T, true>>,
): T {
  const bound = new Map<unknown, unknown>();
  return new Proxy(target, {
    get(_, name) {
      const own = over[name as keyof T];
      if (own !== undefined) return own;
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function' || !(name in passing)) return value;
      if (!bound.has(value)) bound.set(value, value.bind(target));
      return bound.get(value);
    },
  });
}

function sealingOf(store: Store, codec: Codec, isRequired: boolean): Sealing {
  const opened = openerOf(codec);
  return {
    beat: async (beat) => openControls(codec, await store.beat(beat)),
    enqueue: async (tasks, check, note, tx) => {
      const sealed = tasks.map((task) => ({
        ...task,
        payload: sealInput(codec, task.id, task.payload),
      }));
      const answered = (answers: readonly EnqueueAnswer[]) =>
        answers.map((answer, index) => openAnswer(codec, answer, tasks[index]!));
      const opening = check && ((found: readonly EnqueueAnswer[]) => check(answered(found)));
      const answers = await store.enqueue(sealed, opening, note, tx);
      return answered(answers);
    },
    claim: async (request) => {
      const { payloadBytesMax: bytesMax } = request;
      const payloadBytesMax = sealedMax(codec, bytesMax);
      const claimed = await store.claim({ ...request, payloadBytesMax });
      return claimed.map((task) => openClaimed(codec, task, { isRequired, bytesMax }));
    },
    held: async (pod, after, countMax, bytesMax, timeline) => {
      const held = await store.held(pod, after, countMax, sealedMax(codec, bytesMax), timeline);
      return held.map((task) => openClaimed(codec, task, { isRequired, bytesMax }));
    },
    settle: (pod, settlements, timeline) =>
      store.settle(
        pod,
        settlements.map((settlement) => sealSettlement(codec, settlement)),
        timeline,
      ),
    begin: async () => {
      const tx = await store.begin();
      return {
        native: tx.native,
        query: (text, values) => tx.query(text, values),
        commit: (pod, persisted, timeline) => {
          const sealed = persisted.to === 'claimed' ? persisted : sealSettlement(codec, persisted);
          return tx.commit(pod, sealed, timeline);
        },
        rollback: () => tx.rollback(),
      };
    },
    histories: async (runs) =>
      (await store.histories(runs)).map((segment) => openOutcome(codec, segment)),
    mirror: (pod, runs) =>
      store.mirror(
        pod,
        runs.map((run) => ({ ...run, payload: sealInput(codec, run.id, run.payload) })),
      ),
    take: async (taking) => {
      const { payloadBytesMax: bytesMax } = taking;
      const payloadBytesMax = sealedMax(codec, bytesMax);
      const taken = await store.take({ ...taking, payloadBytesMax });
      return taken.map((task) => ({
        ...openClaimed(codec, task, { isRequired, bytesMax }),
        error: task.error && openError(codec, task, task.error),
      }));
    },
    failHopeless: async (graceMs, countMax) =>
      (await store.failHopeless(graceMs, countMax)).map(opened),
    find: async (ids) => (await store.find(ids)).map(opened),
    list: async (filter) => (await store.list(filter)).map(opened),
    watch: async (query) => {
      const watch = await store.watch(query);
      return { ...watch, tasks: watch.tasks.map((task) => openGlance(codec, task)) };
    },
    act: async (act) => store.act(sealAct(codec, act)),
    ...sealingBulks(store, codec),
    ...sealingSchedules(store, codec),
    openReader: async (options) => sealedReader(await store.openReader(options), codec),
  };
}

/** What was asked is named before it is sealed: sent again it is sealed in other letters. */
function sealAct(codec: Codec, act: Act): Act {
  refuseUnbounded(act);
  const plain = digestOf(act);
  const digest = codec.mac?.(plain, { run: act.task, what: 'digest' }) ?? plain;
  return { ...act, digest, deed: sealDeed(codec, act.task, act.deed) };
}

/** A sealed text is longer than what it was made of. Nothing at all is nothing still. */
function sealedMax(codec: Codec, bytesMax: number | undefined): number | undefined {
  return bytesMax === undefined || bytesMax === 0 || codec === identityCodec
    ? bytesMax
    : sealedBytesMax(bytesMax);
}

/** Whoever asks with a key compares inputs: one that cannot be opened is an error, and not another. */
function openAnswer(codec: Codec, answer: EnqueueAnswer, task: NewTask): EnqueueAnswer {
  const { isNew, id, payload } = answer;
  return { ...answer, payload: isNew ? task.payload : openInput(codec, id, payload) };
}

function sealSettlement(codec: Codec, settlement: Settlement): Settlement {
  if (!('result' in settlement)) return settlement;
  const { result, error } = settlement;
  if (result === undefined && error === undefined) return settlement;
  return {
    ...settlement,
    result: result && sealResult(codec, settlement, result),
    error: error && sealError(codec, settlement, error),
  };
}

function openerOf(codec: Codec): (row: TaskRow) => TaskRow {
  return (row) => openRow(codec, row);
}

/** A row as people see it; what cannot be opened stays sealed. */
export function openRow(codec: Codec, row: TaskRow): TaskRow {
  const { id, payload, result } = row;
  const told = { task: id, generation: row.generation };
  return {
    ...openGlance(codec, row),
    payload: payload && openedInput(codec, id, payload),
    result: result && openResult(codec, told, result),
  };
}

function openedInput(codec: Codec, task: string, payload: string): string {
  try {
    return openInput(codec, task, payload);
  } catch {
    return payload;
  }
}

function openGlance<T extends TaskGlance>(codec: Codec, row: T): T {
  const { id: task, generation, error } = row;
  return error === undefined
    ? row
    : { ...row, error: openError(codec, { task, generation }, error) };
}

/** The same for whoever only looks. Groups of errors are made where they are stored: by name and code. */
export function sealedReader(reader: StoreReader, codec: Codec): StoreReader {
  const opened = openerOf(codec);
  const over: Partial<StoreReader> = {
    page: async (query) => {
      const page = await reader.page(query);
      return { ...page, tasks: page.tasks.map((task) => openGlance(codec, task)) };
    },
    find: async (ids) => (await reader.find(ids)).map(opened),
    histories: async (runs) =>
      (await reader.histories(runs)).map((segment) => openOutcome(codec, segment)),
    bulks: async (query) =>
      (await reader.bulks(query)).map((row) => openBulk(codec, row, 'loosely')),
    schedules: async (query) =>
      (await reader.schedules(query)).map((row) => openSchedule(codec, row)),
    audit: async (query) => {
      const page = await reader.audit(query);
      return { ...page, rows: page.rows.map((row) => openAudited(codec, row)) };
    },
  };
  const opening = overlaid(reader, over, READER_PASSING);
  beneath.set(opening, reader);
  return opening;
}

const beneath = new WeakMap<StoreReader, StoreReader>();

/** The same reader, which opens nothing: what is sealed is told as it is stored. */
export function asStored(reader: StoreReader): StoreReader {
  return beneath.get(reader) ?? reader;
}

const READER_PASSING: Record<
  Exclude<keyof StoreReader, 'page' | 'find' | 'histories' | 'audit' | 'bulks' | 'schedules'>,
  true
> = {
  now: true,
  outlines: true,
  recordsIn: true,
  noted: true,
  count: true,
  histogram: true,
  errors: true,
  census: true,
  pods: true,
  known: true,
  inFlight: true,
  lastSegments: true,
  leaderTerms: true,
  queues: true,
  throttles: true,
  pausedMachines: true,
  gateOf: true,
  followers: true,
  close: true,
};
