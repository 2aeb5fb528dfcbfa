/**
 * What a run was after one of its records, told from the records alone, so of runs as well that no
 * machine here belongs to. They are read slice by slice; of what they hold stays what is still of
 * concern, and of that no more than there is room for: the rest is told by its size.
 */
import type { Clock, Json } from '../../ground/index.ts';
import type { StoredRecord } from '../../journal/index.ts';
import { OldRun, placeIn } from '../../machine/index.ts';
import { type Reading, slicesAfter } from '../reading.ts';

/** Where the run stood, with what, and what its steps had put out. */
export interface RunContext {
  readonly seq: number;
  readonly at: number;
  readonly state: string;
  readonly attempt: number;
  readonly input: Json;
  readonly outputs: Readonly<Record<string, Json>>;
  /** What `work` of the step in hand had returned. */
  readonly work: Json | undefined;
  readonly ending: object | undefined;
}

/** Of all values together. */
const VALUES_BYTES_MAX = 4 * 1024 * 1024;

/** In the place of a value that there is no room for; the record of that number has it. */
export interface LeftOut {
  readonly isLeftOut: true;
  readonly bytes: number;
  readonly seq: number;
}

/** Undefined where there is no record of that number. `look` may refuse any of them. */
export async function contextAt(
  reading: Reading,
  seq: number,
  clock: Clock,
  look: (record: StoredRecord) => void,
): Promise<RunContext | undefined> {
  const place = await reading.placeOf(-1);
  if (!place || seq < 0 || seq > reading.last.seq) return undefined;
  const fold = new ContextFold();
  for await (const { records } of slicesAfter(reading, place, clock)) {
    for (const record of records) {
      look(record);
      fold.read(record);
      if (record.seq === seq) return fold.context(record);
    }
  }
  return undefined;
}

/** A value and how large it is; without it where there was no room. */
class Value {
  readonly bytes: number;
  readonly seq: number;
  readonly value: Json | undefined;

  constructor(value: Json, bytes: number, seq: number, isKept: boolean) {
    this.value = isKept ? value : undefined;
    this.bytes = bytes;
    this.seq = seq;
  }

  get told(): Json {
    if (this.value !== undefined) return this.value;
    const { bytes, seq } = this;
    return { isLeftOut: true, bytes, seq } satisfies LeftOut;
  }
}

class ContextFold {
  readonly #run = new OldRun();
  #work: unknown;
  #from = '';
  /** Of what is kept, and of what was once and is forgotten by now. */
  #bytes = 0;
  /** So much had to be kept when that was last looked at. */
  #bytesNeeded = 0;

  read(record: StoredRecord): void {
    const event = this.#boxed(record);
    this.#run.read({ ...record, event });
    const [from, to] = [placeIn(this.#from), placeIn(record.state)];
    if (event.type === 'UPGRADED' || from.step !== to.step) this.#work = undefined;
    else if (event.type === 'DONE' && from.phase === 'work') this.#work = event.output;
    this.#from = record.state;
  }

  context({ seq, at }: StoredRecord): RunContext {
    const { at: state, attempt, input, outputs } = this.#run.state;
    const ending = this.#run.ending;
    return {
      seq,
      at,
      state,
      attempt,
      input: toldOf(input),
      outputs: opened(outputs),
      work: this.#work === undefined ? undefined : toldOf(this.#work),
      ending: ending && opened(ending as unknown as Record<string, Json>),
    };
  }

  /** The event with every value of its own in a box, which the fold hands on without looking into it. */
  #boxed({ event, seq }: StoredRecord): StoredRecord['event'] {
    const told: Record<string, unknown> = { ...event };
    for (const name of ['input', 'output'] as const) {
      if (told[name] !== undefined) told[name] = this.#box(told[name] as Json, seq);
    }
    const boxes = (of: object) =>
      Object.fromEntries(Object.entries(of).map(([step, value]) => [step, this.#box(value, seq)]));
    if (event.type === 'UPGRADED') told['outputs'] = boxes(event.outputs);
    if (event.type === 'STARTED' && event.carried) {
      told['carried'] = { ...event.carried, outputs: boxes(event.carried.outputs) };
    }
    return told as unknown as StoredRecord['event'];
  }

  #box(value: Json, seq: number): Value {
    const bytes = Buffer.byteLength(JSON.stringify(value));
    const isKept = this.#hasRoom(bytes);
    if (isKept) this.#bytes += bytes;
    return new Value(value, bytes, seq, isKept);
  }

  #hasRoom(bytes: number): boolean {
    if (this.#bytes + bytes <= VALUES_BYTES_MAX) return true;
    // Much of it may be gone; to count that costs as much as there is, so it is not done each time.
    if (this.#bytes - this.#bytesNeeded < VALUES_BYTES_MAX / 4) return false;
    this.#bytes = this.#bytesNeeded = this.#needed();
    return this.#bytes + bytes <= VALUES_BYTES_MAX;
  }

  #needed(): number {
    const { input, outputs } = this.#run.state;
    let bytes = 0;
    for (const box of [input, this.#work, ...Object.values(outputs)] as unknown[]) {
      if (box instanceof Value && box.value !== undefined) bytes += box.bytes;
    }
    return bytes;
  }
}

function toldOf(box: unknown): Json {
  return box instanceof Value ? box.told : (box as Json);
}

function opened(of: Readonly<Record<string, Json>>): Record<string, Json> {
  return Object.fromEntries(Object.entries(of).map(([name, box]) => [name, toldOf(box)]));
}
