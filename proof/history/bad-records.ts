/** Histories that the rules on what is written and counted must refuse: each is good but for one thing. */
import {
  afterDrain,
  type BadHistories,
  FIRST,
  FIRST_ATTEMPTS,
  withChanges,
  withPod,
  withRow,
} from './bad-history.ts';
import {
  CLAIMS,
  DONE,
  EFFECTS,
  END,
  fileOf,
  INTERRUPTED,
  PROBED,
  SWEPT,
  TAKEN,
  TAKEN_INSIDE,
  TAKEN_LEFT,
} from './made-history.ts';

export const BAD_RECORDS: BadHistories = {
  'one line of records': [
    {
      what: 'a record is missing from its segment',
      made: () => {
        const file = fileOf();
        const segments = file.segments.map((part, index) =>
          index === 0 ? { ...part, events: part.events.replace('"seq":1', '"seq":9') } : part,
        );
        return { file: { ...file, segments } };
      },
    },
  ],
  'a prefix in the store': [
    {
      what: 'a late flush of a former owner leaves a hole',
      made: () => {
        const file = fileOf();
        const [first] = file.segments;
        const beyond = { firstSeq: 4, lastSeq: 4, prevHash: 'unknown', lastHash: 'late' };
        const events = '[{"seq":4,"hash":"late"}]';
        const late = { ...first!, ...beyond, events, at: 30_500 };
        return { file: { ...file, segments: [...file.segments, late] } };
      },
    },
  ],
  'settled means recorded': [
    { what: 'the row has another outcome', made: () => withRow({ outcome: 'handedOff' }) },
    { what: 'the row ends before its history', made: () => withRow({ lastSeq: 4 }) },
    { what: 'the row has another result', made: () => withRow({ result: '{}' }) },
    {
      what: 'a settlement names a record that is nowhere',
      made: () => withChanges((changes) => [...CLAIMS, { ...changes.at(-1)!, hash: 'unknown' }]),
    },
    {
      what: 'the row has ended, and its history goes on',
      made: () => {
        const file = fileOf([FIRST, [3, TAKEN_INSIDE, INTERRUPTED, PROBED, DONE, DONE]]);
        const changes = file.changes.map((each) => ({ ...each, crashes: each.wasCrashes }));
        return { file: { ...file, changes: [CLAIMS[0]!, SWEPT, CLAIMS[2]!, changes.at(-1)!] } };
      },
    },
  ],
  'probed before repeated': [
    {
      what: 'work is done again after an interruption, and nobody asks check',
      made: () => ({
        file: fileOf([FIRST, [3, TAKEN_INSIDE, INTERRUPTED, DONE, DONE, END]]),
        effects: EFFECTS,
      }),
    },
    {
      what: 'work is done again that a drained pod was inside of, and nobody asks check',
      made: () => ({ ...afterDrain(TAKEN_LEFT, DONE, DONE, END), effects: FIRST_ATTEMPTS }),
    },
  ],
  'counts agree': [
    {
      what: 'a retry is counted that no record knows of',
      made: () =>
        withChanges((changes) => [...changes.slice(0, -1), { ...changes.at(-1)!, retries: 1 }]),
    },
    {
      what: 'a crash is counted of an owner that had not died',
      made: () => ({
        file: fileOf([FIRST, [3, TAKEN_LEFT, PROBED, DONE, DONE, END]]),
        effects: FIRST_ATTEMPTS,
        ...withPod('pod-1', { deadBy: 'pod-1' }),
      }),
    },
    {
      what: 'crashes are not forgotten with the step that was completed',
      made: () =>
        withChanges((changes) => [...changes.slice(0, -1), { ...changes.at(-1)!, crashes: 1 }]),
    },
  ],
  'an interruption is an attempt': [
    {
      what: 'nobody notices that a phase was running',
      made: () => ({
        file: fileOf([FIRST, [3, TAKEN, DONE, DONE, END]]),
        effects: FIRST_ATTEMPTS,
      }),
    },
    {
      what: 'it is noticed, and not counted',
      made: () => ({
        file: fileOf([FIRST, [3, TAKEN_INSIDE, DONE, DONE, END]]),
        effects: FIRST_ATTEMPTS,
      }),
    },
    {
      what: 'a crash is taken for a drain, and counts nothing',
      made: () => ({
        file: fileOf([FIRST, [3, TAKEN_LEFT, PROBED, DONE, DONE, END]]),
        effects: FIRST_ATTEMPTS,
      }),
    },
    {
      what: 'nobody notices that a pod which left in order was inside a phase',
      made: () => ({ ...afterDrain(TAKEN, DONE, DONE, END), effects: FIRST_ATTEMPTS }),
    },
    {
      what: 'a drain is counted as an attempt',
      made: () => afterDrain(TAKEN_INSIDE, INTERRUPTED, PROBED, DONE, DONE, END),
    },
  ],
};
