/**
 * What a pod does for many runs at once: traces of their own, linked to the runs that were touched. A
 * sweep is a run, and has a trace; the span of its phase gets the links.
 */
import {
  type Attributes,
  type Context,
  type Link,
  ROOT_CONTEXT,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { isRunId } from '../../ground/index.ts';
import { listen, type RescuedTask, type TouchedTask } from '../events.ts';
import { anchorOf, endOf } from './attempts.ts';
import { contextOf, type SpanWriter, timeOf } from './span-writer.ts';

/** A span is no list: how many there were is told by an attribute. */
const LINK_COUNT_MAX = 128;

export interface ChorePorts {
  readonly tracer: Tracer;
  readonly writer: SpanWriter;
  readonly now: () => number;
}

export function traceChores(ports: ChorePorts): () => void {
  const stops = [
    listen('archive.flushed', (e) => tellChore(ports, 'flush', e)),
    listen('pod.adopted', (e) => {
      if (e.pods > 0) tellChore(ports, 'adopt', e, { 'fleetq.pod': e.pod });
    }),
    listen('pod.drained', (e) => tellChore(ports, 'drain', e, { 'fleetq.pod': e.pod })),
    listen('tasks.rescued', ({ tasks }) => tellRescued(ports, tasks)),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}

function tellChore(
  { tracer, now }: ChorePorts,
  name: string,
  { elapsedMs, tasks }: { readonly elapsedMs: number; readonly tasks: readonly TouchedTask[] },
  attributes: Attributes = {},
): void {
  const endAt = now();
  const span = tracer.startSpan(
    name,
    {
      startTime: timeOf(endAt - elapsedMs),
      attributes: { ...attributes, 'fleetq.runs': tasks.length },
      links: linksTo(tasks),
    },
    ROOT_CONTEXT,
  );
  span.end(timeOf(endAt));
}

function tellRescued({ writer, now }: ChorePorts, tasks: readonly RescuedTask[]): void {
  const span = trace.getActiveSpan();
  span?.addLinks(linksTo(tasks));
  span?.addEvent('fleetq.rescued', { 'fleetq.runs': tasks.length });
  for (const task of traced(tasks)) {
    if (task.status !== 'failed') continue;
    // Nobody will ever have it again: whoever gives it up says so.
    const whose = { ...task, pod: undefined };
    const parent: Context = writer.parentOf(whose, undefined);
    const at = now();
    const outcome = task.outcome ?? 'aborted';
    // Nobody has ever begun it, and its end would be below a span that nobody sends.
    if (!task.hasBegun) writer.write(anchorOf(whose, at), parent)();
    writer.write(endOf(whose, at, { seq: -1, epoch: 0, at }, outcome), parent)();
  }
}

function linksTo(tasks: readonly TouchedTask[]): Link[] {
  return traced(tasks).map(({ run, generation }) => ({ context: contextOf(run, generation) }));
}

/** A row that was written by hand may have any id, and nobody runs what has one that is no run's. */
function traced<T extends TouchedTask>(tasks: readonly T[]): readonly T[] {
  return tasks.filter(({ run }) => isRunId(run)).slice(0, LINK_COUNT_MAX);
}
