/** Bugs in how a pod meets its Postgres: what the role may do, how long, and by how many connections. */
import { type Mutant, tests } from './mutant.ts';

const POOL = 'src/store/postgres/pool.ts';

export const POSTGRES: readonly Mutant[] = [
  {
    name: 'no-timeline-no-fleet',
    breaks: 'a role that may not ask for the timeline of its server can neither beat nor claim',
    changes: [
      {
        file: POOL,
        find: 'return this.#hasTimeline ? text : withoutTimeline(text);',
        put: 'return this.#hasTimeline ? text : String(text);',
      },
    ],
    command: tests('test/store/postgres-timeline.store.test.ts', 'is granted the right'),
    shows: /once the role is granted the right/,
  },
  {
    name: 'statement-outlives-its-caller',
    breaks: 'a call that waited for its connection takes effect after it was refused',
    changes: [
      {
        file: POOL,
        find: 'leftMs > serverMs * SERVER_MARGIN',
        put: 'leftMs > serverMs * SERVER_MARGIN * 0',
      },
    ],
    command: tests('test/store/postgres-deadlines.e2e.test.ts', 'waited for its connection'),
    shows: /a call that waited for its connection leaves the server less time/,
  },
  {
    name: 'persist-beside-the-pool',
    breaks: 'a pod whose steps persist in the store has more connections than it was told',
    changes: [
      {
        file: POOL,
        find: 'const client = await this.#pool.connect().catch((error) => this.#fail(error));',
        put: 'const client = await this.#open().connect().catch((error) => this.#fail(error));',
      },
    ],
    command: tests('test/fleet/connections.store.test.ts', 'transactions of its steps'),
    shows: /with [13] for its calls a pod does all its work, in transactions of its steps too/,
  },
];
