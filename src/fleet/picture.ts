/**
 * One run of this host, and how far the store knows of it. While the store is away there may be very many
 * that have ended: of those only the name is kept, and the rest is read again from the journal.
 */
import type { Shadow, WrittenRecord } from '../engine/index.ts';
import type { RunId } from '../ground/index.ts';
import type { Journal } from '../journal/index.ts';
import type { Ending } from '../machine/index.ts';
import type { MirroredRun } from '../store/index.ts';
import type { HeldRun } from './held-run.ts';

const BATCH_COUNT_MAX = 500;
const BATCH_BYTES_MAX = 4 * 1024 * 1024;

type Of = Pick<MirroredRun, 'id' | 'machine' | 'version' | 'deadlineMs'> & {
  readonly startedAt: number;
};

export class Picture implements Shadow {
  readonly of: Of;
  /** Undefined where the journal has to be asked. */
  payload: string | undefined;
  held: HeldRun | undefined;
  ending: Ending | undefined;
  /** More is on record than that it was started. */
  hasGoneOn = false;
  readonly #onChanged: (picture: Picture) => void;

  constructor(of: Of, onChanged: (picture: Picture) => void) {
    this.of = of;
    this.#onChanged = onChanged;
  }

  standsUnder(version: number): void {
    this.held?.standsUnder(version);
  }

  recorded(record: WrittenRecord): void {
    this.held?.recorded(record);
    this.hasGoneOn ||= record.seq > 0;
    this.#onChanged(this);
  }

  ended(ending: Ending): void {
    this.payload = undefined;
    // What it put out is in the journal too: here it is only known that it has ended.
    this.ending = this.held ? ending : { ...ending, output: undefined };
    this.held?.ended(ending);
    this.#onChanged(this);
  }
}

interface Shown {
  readonly shown: readonly { readonly picture: Picture; readonly run: MirroredRun }[];
  /** The journal has forgotten them: nobody could show them any more. */
  readonly gone: readonly Picture[];
}

/** The first of them, as the store is to see them now. */
export function shownOf(pictures: Iterable<Picture>, journal: Journal, now: number): Shown {
  const shown: { picture: Picture; run: MirroredRun }[] = [];
  const gone: Picture[] = [];
  let bytes = 0;
  for (const picture of pictures) {
    const { startedAt, ...of } = picture.of;
    const payload = picture.payload ?? payloadOf(journal, of.id);
    if (payload === undefined) {
      gone.push(picture);
      continue;
    }
    const startedAgoMs = Math.max(0, now - startedAt);
    shown.push({ picture, run: { ...of, payload, journal: journal.id, startedAgoMs } });
    bytes += payload.length;
    if (shown.length >= BATCH_COUNT_MAX || bytes > BATCH_BYTES_MAX) break;
  }
  return { shown, gone };
}

function payloadOf(journal: Journal, id: RunId): string | undefined {
  if (!journal.hasRun(id) || !journal.hasEvents(id)) return undefined;
  const first = journal.history(id)[0]?.event;
  return first?.type === 'STARTED' ? JSON.stringify(first.input) : undefined;
}
