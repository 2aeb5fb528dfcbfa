/** What a redriven run takes along from its earlier generation. */
import type { Json } from '../ground/index.ts';
import type { StoredRecord } from '../journal/index.ts';
import { firstStateOf, foldRecords, type Plan } from '../machine/index.ts';

export interface CarriedOver {
  readonly step: string;
  readonly outputs: Readonly<Record<string, Json>>;
}

/** What that one had finished, and the step it failed in; nothing where that is gone, or is no step. */
export function carriedOver(plan: Plan, records: readonly StoredRecord[]): CarriedOver | undefined {
  const folded = records.length > 0 ? foldRecords(plan, records) : '';
  if (typeof folded === 'string') return undefined;
  const { state } = folded;
  const from = state.ending?.state ?? state.at;
  const step = from.slice(0, Math.max(0, from.lastIndexOf('.')));
  if (firstStateOf(plan.chart, step) === undefined) return undefined;
  const outputs = { ...state.outputs };
  delete outputs[step];
  return { step, outputs };
}
