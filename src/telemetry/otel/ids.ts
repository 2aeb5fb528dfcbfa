/**
 * The ids of traces and spans, computed and never stored. A run's 128 bits are its trace; a span has the
 * hash of the record that it stands on, so that whoever takes a run over names what its last owner was
 * at just as that one did, and a span that is told twice is one span.
 */
import { assert, traceIdOf as bitsOf, hash, type RunId } from '../../ground/index.ts';

const SPAN_DIGITS = 16;

/** No run has an id of another form: a row that has is a dead letter. */
export function traceIdOf(run: RunId): string {
  const id = bitsOf(run);
  assert(id !== undefined, 'a run id is a ULID or a UUID');
  return id;
}

/** What all other spans of one generation of the run are below. */
export function anchorIdOf(run: RunId, generation: number): string {
  return spanId(`run\n${run}\n${generation}`);
}

/** Of the attempt that began when this was the run's last record. */
export function attemptIdOf(recordHash: string): string {
  return spanId(`attempt\n${recordHash}`);
}

export function endIdOf(run: RunId, generation: number): string {
  return spanId(`end\n${run}\n${generation}`);
}

/** Of an attempt of which nothing was left behind but that there was one. */
export function lostIdOf(run: RunId, generation: number, epoch: number): string {
  return spanId(`lost\n${run}\n${generation}\n${epoch}`);
}

function spanId(text: string): string {
  const id = hash(text).slice(0, SPAN_DIGITS);
  // All zeros would mean that there is none.
  return /[^0]/.test(id) ? id : '1'.padStart(SPAN_DIGITS, '0');
}
