/**
 * A pod of the crash table: takes its place in the fleet and strikes itself where it is told. What
 * its handlers do goes to a ledger that syncs every line. The package it runs knows nothing of this.
 */
import { writeSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import type { Watch } from '../../src/fleet/watch.ts';
import type * as Ground from '../../src/ground/index.ts';
import type * as Fleetq from '../../src/index.ts';
import type { Entry, SqliteJournal } from '../../src/journal/index.ts';
import { takes } from '../../test/support/any-schema.ts';
import { Ledger } from '../../test/support/ledger.ts';
import { type Act, HEARTBEAT_MS, type Hook, type Orders, SILENT_MS } from './hooks.ts';
import { type Meeting, meet } from './meeting.ts';

const orders = JSON.parse(process.argv[2] ?? '{}') as Orders;
const load = <T>(file: string) =>
  import(pathToFileURL(`${orders.dist}/${file}`).href) as Promise<T>;
const api = await load<typeof Fleetq>('index.js');
const ground = await load<typeof Ground>('ground/index.js');
const { defineMachine, createFleet, listen } = api;

function strike(act: Act, where: string): void {
  writeSync(1, `struck ${where}\n`);
  process.kill(process.pid, act === 'pause' ? 'SIGSTOP' : 'SIGKILL');
}

const { hook } = orders;
const base = { clock: ground.systemClock, random: ground.systemRandom };
const opened = await api.openStore(orders.url, { ...base, poolSize: 1 });
const storePrototype = Object.getPrototypeOf(opened) as Record<
  string,
  (...given: unknown[]) => Promise<unknown>
>;
await opened.close();

function hookStore({ verb, when, nth = 1, act }: Extract<Hook, { at: 'store' }>): void {
  const original = storePrototype[verb]!;
  let count = 0;
  storePrototype[verb] = async function (...given) {
    if (when === 'before' && ++count === nth) strike(act, `before ${verb}`);
    const answer = await original.apply(this, given);
    const isEmpty = (Array.isArray(answer) && answer.length === 0) || answer === false;
    if (when === 'before' || isEmpty || ++count !== nth) return answer;
    if (act !== 'lose') strike(act, `after ${verb}`);
    writeSync(1, `struck after ${verb}\n`);
    throw new api.StoreUnreachableError(`the answer of ${verb} was lost`);
  };
}

/** All of them know what they are about to do to the dead before the first of them does it. */
function meetBefore(verb: 'fence' | 'take', { place, count }: Meeting): void {
  const original = storePrototype[verb]!;
  let met: Promise<void> | undefined;
  storePrototype[verb] = async function (...given) {
    const meeting = { place: `${place}-${verb}`, count };
    met ??= meet(meeting).then(() => void writeSync(1, `met at ${verb}\n`));
    await met;
    return original.apply(this, given);
  };
}

function halveReleases(): void {
  const original = storePrototype['settle']!;
  const half = Math.ceil((orders.drainsAt ?? 1) / 2);
  let sent = 0;
  storePrototype['settle'] = async function (pod, settlements) {
    const all = settlements as readonly { readonly to: string }[];
    if (all[0]?.to !== 'pending') return original.call(this, pod, settlements);
    // They come together, or one by one where the machine is slow.
    const now = all.slice(0, half - sent);
    const answers = await original.call(this, pod, now);
    sent += now.length;
    if (sent < half) return answers;
    strike('kill', 'after half of the releases');
    return [];
  };
}

async function hookJournal(matches: (entry: Entry) => boolean, when: string): Promise<void> {
  const { SqliteJournal: Journal } = await load<{ SqliteJournal: typeof SqliteJournal }>(
    'journal/index.js',
  );
  const { append } = Journal.prototype;
  let isDone = false;
  Journal.prototype.append = function (entry) {
    if (isDone || !matches(entry)) return append.call(this, entry);
    isDone = true;
    const die = () => strike('kill', `${when} record ${entry.event.type} to ${entry.state}`);
    if (when === 'before') die();
    const appending = append.call(this, entry);
    if (when === 'buffered') die();
    return appending.then((appended) => {
      die();
      return appended;
    });
  };
}

async function hookForget(when: 'before' | 'after'): Promise<void> {
  const { SqliteJournal: Journal } = await load<{ SqliteJournal: typeof SqliteJournal }>(
    'journal/index.js',
  );
  const { endHolds } = Journal.prototype;
  Journal.prototype.endHolds = function (runs) {
    endHolds.call(this, runs);
    if (when === 'before') strike('kill', 'before the removal');
    // It goes with the next commit, or by itself after a while.
    setTimeout(() => strike('kill', 'after the removal'), 1_500);
  };
}

async function forceLeadership(): Promise<void> {
  const { Watch: Forced } = await load<{ Watch: typeof Watch }>('fleet/watch.js');
  let id = '';
  listen('pod.registered', ({ pod }) => {
    id = pod;
  });
  Object.defineProperty(Forced.prototype, 'leader', { get: () => id });
  Forced.prototype.isSteady = () => true;
  Forced.prototype.isTurnOf = () => true;
}

if (hook?.at === 'store') hookStore(hook);
if (hook?.at === 'halfSettle') halveReleases();
if (hook?.at === 'forget') await hookForget(hook.when);
if (hook?.at === 'append') {
  const { event, state, when } = hook;
  const fits = (entry: Entry) =>
    entry.event.type === event && (state === undefined || entry.state === state);
  await hookJournal(fits, when);
}
if (hook?.at === 'event') {
  const { name, has = {}, nth = 1, act } = hook;
  let count = 0;
  listen(name, (told) => {
    const of = told as unknown as Record<string, unknown>;
    if (!Object.entries(has).every(([field, value]) => of[field] === value)) return;
    if (++count === nth) strike(act, name);
  });
}
if (orders.meets) for (const verb of ['fence', 'take'] as const) meetBefore(verb, orders.meets);
if (orders.isForced) await forceLeadership();

listen('journal.alarm', ({ kind }) => void writeSync(1, `alarm ${kind}\n`));

const ledger = new Ledger(orders.ledger);
let current: { readonly step: string; readonly phase: string } = { step: '', phase: '' };
const around: Fleetq.Around = (of, call) => {
  current = of;
  return call();
};

type Context = Fleetq.StepContext<{ readonly subject: string }, unknown>;

async function act(context: Context): Promise<{ readonly by: string; readonly ballast: string }> {
  const { step, phase } = current;
  const place = `${step}.${phase}`;
  const { runId: run, attempt, idempotencyKey, fencingToken, input } = context;
  const at = (moment: string) => {
    if (hook?.at !== 'phase' || hook.place !== place || hook.moment !== moment) return;
    strike(hook.act, `${place} ${moment}`);
  };
  const line = { run, step, phase, attempt, idempotencyKey, fencingToken, subject: input.subject };
  at('begun');
  ledger.write({ ...line, outcome: 'half' });
  at('half');
  if (place === 'b.work' && orders.workMs > 0) {
    await new Promise((resolve) => {
      setTimeout(resolve, orders.workMs);
    });
  }
  ledger.write({ ...line, outcome: 'done' });
  at('done');
  return { by: place, ballast: 'x'.repeat(orders.outputBytes) };
}

const phases = {
  check: async (context: Context) => void (await act(context)),
  work: act,
  validate: async (context: Context) => void (await act(context)),
  persist: act,
};
const defined = (name: string, napMs: number | undefined) => {
  const head = {
    name,
    version: orders.line?.version ?? 1,
    input: takes<{ readonly subject: string }>(),
    retry: { attemptMax: 50, backoff: () => 2 },
  } as const;
  if (napMs === undefined) {
    const names = orders.line?.steps ?? ['a', 'b'];
    return defineMachine({
      ...head,
      steps: (empty) => {
        let line = empty;
        for (const step of names) line = line.step(step as 'a', phases) as never;
        return line;
      },
    });
  }
  return defineMachine({
    ...head,
    steps: (line) => line.step('a', phases).sleep('nap', napMs).step('b', phases),
  });
};
const machine = orders.machine === undefined ? undefined : defined(orders.machine, orders.napMs);

const drain = async () => {
  await (await starting).drain({ budget: '8s' });
  process.exit(0);
};
// It may have runs in hand before whoever starts it hears that it is there.
if (orders.drains) {
  let begun = 0;
  listen('phase.started', ({ step, phase }) => {
    if (step !== 'b' || phase !== 'work' || ++begun < (orders.drainsAt ?? 1)) return;
    setTimeout(() => void drain(), 20);
  });
}
const starting = createFleet({
  machines: machine ? [machine] : [],
  store: orders.beatsInline ? await api.openStore(orders.url, base) : orders.url,
  dataDir: orders.dataDir,
  podName: orders.name,
  heartbeat: orders.heartbeatMs ?? HEARTBEAT_MS,
  silence: orders.silentMs ?? SILENT_MS,
  archive: orders.archiveMs,
  isClient: orders.enqueues !== undefined,
  isSuspectsOnly: orders.isSuspectsOnly ?? false,
  socket: false,
  slots: 16,
  around,
});
const fleet = await starting;
writeSync(1, `ready ${fleet.status.pod?.pod ?? ''}\n`);

process.once('SIGTERM', () => void drain());
if (orders.enqueues !== undefined) {
  const input = { subject: 'apple' };
  const { id } = await fleet.enqueueByName(orders.machine!, input, { key: orders.enqueues });
  writeSync(1, `enqueued ${id}\n`);
  await drain();
}
if (orders.startsLocal) {
  const { id } = await fleet.startLocal(machine!, { subject: 'apple' });
  writeSync(1, `started ${id}\n`);
}
const isOpen = async () => {
  const rows = await fleet.store.list({ machine: orders.machine, countMax: 100 });
  return rows.length === 0 || rows.some(({ finishedAt }) => finishedAt === undefined);
};
if (orders.isFinisher) {
  while (await isOpen().catch(() => true)) {
    await new Promise((resolve) => {
      setTimeout(resolve, 50);
    });
  }
  await drain();
}
