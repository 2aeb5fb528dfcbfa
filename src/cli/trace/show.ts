/** The whole picture of a trace, line by line: for a terminal of any width, and for files. */
import { showDuration } from '../../ground/index.ts';
import { type Trace, totalsOf } from '../../telemetry/trace.ts';
import { type Canvas, drawRows } from './draw.ts';
import { headOf, podsOf } from './head.ts';
import { type Row, rowsOf } from './rows.ts';

export function traceText(
  run: string,
  trace: Trace,
  nameOf: (pod: string) => string | undefined,
  canvas: Canvas,
): string {
  const pods = podsOf(trace);
  const { startedAt: from, until: to } = trace;
  const root: Row = {
    ...{ lead: '', label: trace.machine, note: '', style: 'bold', pod: undefined },
    took: showDuration(totalsOf(trace).totalMs),
    bar: { from, to, of: 'axis' },
  };
  const rows = [root, ...rowsOf(trace, canvas.glyphs, pods.letterOf)];
  const head = headOf(run, trace, pods, nameOf, canvas);
  return [...head, '', ...drawRows(rows, { from, to }, canvas)].join('\n');
}
