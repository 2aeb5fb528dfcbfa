// biome-ignore-all lint/suspicious/noTemplateCurlyInString: it quotes source that has templates
/** Bugs in what pods make of a server of the store that took over, and lacks what the one before had said. */
import { type Mutant, tests } from './mutant.ts';

const FOOTING = 'src/fleet/footing.ts';
const noticed = (only: string) => tests('test/fleet/rewinds.test.ts', only);

export const REWINDS: readonly Mutant[] = [
  {
    name: 'settles-on-any-server',
    breaks:
      'what is settled behind records that a new server lacks can be read by nobody (I13, I23)',
    changes: [
      {
        file: FOOTING,
        find: 'this.#store.settle(pod, settlements, timeline)',
        put: 'this.#store.settle(pod, settlements, timeline && undefined)',
      },
    ],
    command: noticed('nothing is written behind'),
    shows: /I23: nothing is written behind records that a new server lacks/,
  },
  {
    name: 'claims-on-any-server',
    breaks: 'a pod takes its own runs away from itself, and what it was told of them is lost (I23)',
    changes: [
      {
        file: FOOTING,
        find: 'this.#store.claim({ ...request, timeline })',
        put: 'this.#store.claim({ ...request, timeline: timeline && undefined })',
      },
    ],
    command: noticed('does not claim'),
    shows: /I23: a pod does not claim, from a new server, what it has in hand/,
  },
  {
    name: 'believes-the-lost-server',
    breaks: 'an outcome that only the lost server has is taken for recorded (I16, I23)',
    changes: [
      {
        file: FOOTING,
        find: 'if (moves !== this.#moves) throw storeMoved();',
        put: 'if (moves > this.#moves) throw storeMoved();',
      },
    ],
    command: noticed('comes late'),
    shows: /I23: an answer of the lost server that comes late is not believed/,
  },
  {
    name: 'begins-a-lost-claim-again',
    breaks: 'a run is begun twice under one epoch, and its history forks (I7, I13)',
    changes: [
      {
        file: FOOTING,
        find: 'return this.#moves > 0 && epoch <',
        put: 'return this.#moves < 0 && epoch <',
      },
    ],
    command: noticed('^I7'),
    shows: /I7: a claim of the lost server, of which its pod knows nothing any more/,
  },
  {
    name: 'lost-owner-not-probed',
    breaks: 'whoever goes on after an owner that nobody knows of does not ask check first (I41)',
    changes: [
      {
        file: 'src/fleet/history.ts',
        find: "if (interruption === undefined && last && last.seq > lastSeq) return 'cut';",
        put: "if (interruption === undefined && last && last.seq < lastSeq) return 'cut';",
      },
    ],
    command: noticed('^I7'),
    shows: /I7: a claim of the lost server, of which its pod knows nothing any more/,
  },
  {
    name: 'next-life-was-told-nothing',
    breaks: 'what a pod was told is forgotten where its own row was lost (I23)',
    changes: [
      {
        file: 'src/fleet/pod.ts',
        find: 'memory: this.#memory,',
        put: 'memory: new Memory(),',
      },
    ],
    command: noticed('own row was lost'),
    shows: /I23: a pod whose own row was lost writes again what it was told before/,
  },
  {
    name: 'postgres-settles-for-any-server',
    breaks: 'a server that took over settles what was meant for the one before (I23)',
    changes: [
      {
        file: 'src/store/postgres/step-tracker-settle.sql.ts',
        find: "with ${fenceOf(`'up', 'draining'`, '$26')},",
        put: "with ${fenceOf(`'up', 'draining'`)}, unheeded as (select $26::text),",
      },
    ],
    command: tests('test/store/postgres.store.test.ts', 'meant for another server'),
    shows: /what is meant for another server is neither settled nor archived/,
  },
  {
    name: 'found-history-not-written-again',
    breaks: 'what a pod settles as it found it has no history on a new server (I16)',
    changes: [
      {
        file: 'src/fleet/rewind-verdict.ts',
        find: 'if (read) return hasAll(claim.task, read, lastHash) ? read : undefined;',
        put: 'if (read) return hasAll(claim.task, read, lastHash) ? [] : undefined;',
      },
    ],
    command: tests('test/fleet/rewinds-found.test.ts', 'as it found it'),
    shows: /I16: what a pod settles as it found it has its history on a new server first/,
  },
  {
    name: 'adopts-from-two-servers',
    breaks: 'whoever adopts goes by what one server has, and writes to another that lacks it (I16)',
    changes: [
      {
        file: 'src/fleet/adopter.ts',
        find: 'if (this.#ports.footing.moves !== this.#moves) throw storeMoved();',
        put: 'if (this.#ports.footing.moves < this.#moves) throw storeMoved();',
      },
    ],
    command: tests('test/fleet/rewinds-again.test.ts', 'while another server takes over'),
    shows: /I16: whoever adopts while another server takes over compares/,
  },
  {
    name: 'late-records-behind-a-hole',
    breaks: 'records of a run that others have are sent to a server that lacks its first (I14)',
    changes: [
      {
        file: 'src/fleet/superseded.ts',
        find: 'this.#late.filter(({ timeline }) => timeline === store.timeline)',
        put: 'this.#late.filter(({ timeline }) => timeline !== null)',
      },
    ],
    command: tests('test/fleet/island.test.ts', 'lacks what came before'),
    shows: /is not sent to a server that lacks what came before it/,
  },
];
