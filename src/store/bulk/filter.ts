/** The tasks that a bulk operation is about, as a filter: what was typed, and what is always left out. */
import { type Filter, parseFilter, type Term } from '../../query/index.ts';
import { BULK_MACHINE, RECOVERY_PREFIX } from '../words.ts';
import type { BulkRow } from './bulks.ts';

/** The fleet's own runs: one that ended its own shift, or a sweep, would be of no help to anybody. */
const NOT_OWN: Term = {
  kind: 'words',
  field: 'machine',
  isNot: true,
  words: [BULK_MACHINE, `${RECOVERY_PREFIX}*`],
};

/** Where errors are masked no text is looked for in what they say: by counts it would be told. */
export function bulkFilter({
  filter,
  isMasked,
  createdAt,
}: Pick<BulkRow, 'filter' | 'isMasked'> & { readonly createdAt: number | undefined }): Filter {
  const asked = parseFilter(filter).terms.map((term) =>
    isMasked && term.kind === 'text' ? { ...term, isOfNames: true } : term,
  );
  if (createdAt === undefined) return { terms: [...asked, NOT_OWN] };
  const until = { at: createdAt + 1 };
  const before: Term = { kind: 'time', field: 'created', isNot: false, from: undefined, until };
  return { terms: [...asked, NOT_OWN, before] };
}
