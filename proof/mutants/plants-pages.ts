/** Bugs that need more runs than one page of 500 holds: below that the product is as it should be. */
import { type Mutant, tests } from './mutant.ts';

const ADOPTER = 'src/fleet/adopter.ts';
const command = tests('test/fleet/many-runs.test.ts');

export const PAGES: readonly Mutant[] = [
  {
    name: 'reconcile-of-one-page',
    breaks: 'runs beyond the first page of what a pod holds are taken for lost (I38)',
    changes: [
      {
        file: 'src/fleet/reconciler.ts',
        find: '    if (page.length < PAGE_COUNT) break;\n    after = page.at(-1)!.task;\n',
        put: '    if (page.length <= PAGE_COUNT) break;\n    after = page.at(-1)!.task;\n',
      },
    ],
    command,
    shows: /H4: what is on the second page is found too/,
  },
  {
    name: 'second-page-of-the-disk-ignored',
    breaks: 'what the disk has of later pages is done again by the next process (I19)',
    changes: [
      {
        file: 'src/engine/local-holds.ts',
        find: 'holds.slice(from, from + PAGE_COUNT)',
        put: 'holds.slice(0, PAGE_COUNT)',
      },
    ],
    command,
    shows: /adopts all pages of its runs alike/,
  },
  {
    name: 'crashes-of-one-page',
    breaks: 'of later pages nobody counts what killed the process (I29)',
    changes: [
      {
        file: ADOPTER,
        find: 'await this.#take({ from, crashed, only })',
        put: 'await this.#take({ from, crashed: this.#touched.length > 0 ? [] : crashed, only })',
      },
    ],
    command,
    shows: /adopts all pages of its runs alike/,
  },
  {
    name: 'archive-of-one-page',
    breaks:
      'with every interval one page of records reaches the store, however many there are (I19)',
    changes: [
      {
        file: 'src/fleet/archiver.ts',
        find: '    yield batch;\n    [batch, bytes] = [[], 0];\n',
        put: '    break;\n',
      },
    ],
    command,
    shows: /all pages of records reach the store/,
  },
];
