/** Bugs in what becomes of a broken journal: what is whole in it and not understood must not be lost. */
import { type Mutant, tests } from './mutant.ts';

export const SALVAGES: readonly Mutant[] = [
  {
    name: 'strange-records-cut-off',
    breaks: 'a run goes on from before a record that only a newer version understands (I34)',
    changes: [
      {
        file: 'src/journal/record.ts',
        find: 'if (records.length === count) isSound(() => records.push(readRecord(run, row, codec)));',
        put: 'if (!isSound(() => records.push(readRecord(run, row, codec)))) break;',
      },
    ],
    command: tests('test/journal/strange-records.test.ts'),
    shows: /I34: records of an unknown kind are not cut off a broken file/,
  },
  {
    name: 'newer-wreck-salvaged',
    breaks: 'of a broken file of a newer format only what this version knows is carried over (I34)',
    changes: [
      {
        file: 'src/journal/migrate.ts',
        find: 'if (!isOurs || format < formats.length ||',
        put: 'if (isOurs || format < formats.length ||',
      },
    ],
    command: tests('test/journal/strange-records.test.ts'),
    shows: /a broken file of a newer format is refused, and stays where it is/,
  },
];
