/** What of a bulk operation is JSON in the SQL stores. */
import type { BulkItem, BulkRow } from './bulks.ts';

export interface BulkTexts {
  readonly inHand: string;
  readonly refusals: string;
  readonly samples: string;
}

export function textsOf({ inHand, refusals, samples }: BulkRow): BulkTexts {
  return {
    inHand: JSON.stringify(inHand.map(({ task, generation }) => [task, generation])),
    refusals: JSON.stringify(refusals),
    samples: JSON.stringify(samples),
  };
}

export function partsOf(texts: BulkTexts): Pick<BulkRow, 'inHand' | 'refusals' | 'samples'> {
  const items = JSON.parse(texts.inHand) as [BulkItem['task'], number][];
  return {
    inHand: items.map(([task, generation]) => ({ task, generation })),
    refusals: JSON.parse(texts.refusals) as BulkRow['refusals'],
    samples: JSON.parse(texts.samples) as BulkRow['samples'],
  };
}
