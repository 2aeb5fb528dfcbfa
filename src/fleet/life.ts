/**
 * One incarnation of a pod: from its registration until it drains or is taken for dead. What it was
 * when it died it never is again: the process goes on as another incarnation.
 */
import type { ClaimedTask, JournalSeen, Notice, PodId, Settlement } from '../store/index.ts';
import { tell } from '../telemetry/events.ts';
import type { Acceptor } from './acceptor.ts';
import { Adopter } from './adopter.ts';
import type { Archiver } from './archiver.ts';
import type { Heard, News } from './beat-loop.ts';
import { Capacity } from './capacity.ts';
import { Claimer } from './claimer.ts';
import { followControls } from './controls.ts';
import { Doubts } from './doubts.ts';
import { ClaimLostError } from './errors.ts';
import { fenceProven } from './fence-proven.ts';
import { Footing } from './footing.ts';
import { Forgetter } from './forgetter.ts';
import { givePausedBack } from './give-paused-back.ts';
import type { Grants } from './grants.ts';
import type { Heart } from './heart.ts';
import type { HeldRun } from './held-run.ts';
import { Holdings } from './holdings.ts';
import type { Keeper } from './keeper.ts';
import { isLeading } from './leader.ts';
import type { LifePorts } from './life-ports.ts';
import * as parts from './life-ports.ts';
import { type Persisting, persistingOf } from './persisting.ts';
import { reconcile } from './reconciler.ts';
import { reportOf } from './report.ts';
import type { Rewinder } from './rewinder.ts';
import { Settler } from './settler.ts';
import { Sleepers } from './sleepers.ts';
import { Stall } from './stall.ts';
import { Superseded } from './superseded.ts';
import { Trust } from './trust.ts';
import { Watch } from './watch.ts';

const LAST_FENCE_MS = 1_000;

export class Life implements Keeper {
  readonly id: PodId;
  readonly watch: Watch;
  readonly capacity: Capacity;
  readonly holdings = new Holdings();
  readonly #ports: LifePorts;
  readonly #heart: Heart;
  readonly #footing: Footing;
  readonly #settler: Settler;
  readonly #archiver: Archiver;
  readonly #acceptor: Acceptor;
  readonly #claimer: Claimer;
  readonly #sleepers: Sleepers;
  readonly #trust: Trust;
  readonly #doubts: Doubts;
  readonly #rewinder: Rewinder;
  readonly #forgetter: Forgetter;
  readonly #superseded: Superseded;
  readonly #stall: Stall;
  readonly persisting: Persisting;
  readonly #grants: Grants | undefined;
  isDead = false;
  isReady = false;
  isDraining = false;

  constructor(ports: LifePorts, nonce: string) {
    const { store, engine, clock, random, times, limits, id } = ports;
    this.#ports = ports;
    this.id = id;
    this.#sleepers = new Sleepers(clock);
    this.#trust = new Trust(clock, () => this.isCurrent());
    this.#footing = new Footing(store, ports.memory, this.#trust.wake);
    this.#superseded = new Superseded({ store: this.#footing, clock, random });
    this.#stall = new Stall(ports);
    this.watch = new Watch(times);
    this.capacity = new Capacity(limits.slots);
    const [holdings, isOver] = [this.holdings, () => this.isDead];
    this.#forgetter = new Forgetter({ clock, engine, holdings, isOver });
    this.#rewinder = parts.rewinderOf(ports, { holdings, isOver });
    this.#doubts = new Doubts({
      count: () => holdings.size,
      isReady: () => this.isReady,
      verify: (timeline) => this.#rewinder.verify(timeline),
      reconcile: () => this.#reconcile(),
      exclusively: (act) => this.#claimer.exclusively(act),
      footing: this.#footing,
      follow: (timeline) => void store.follow?.(timeline),
      confirmed: () => this.#rewinder.confirmed(),
    });
    const onHeard = (heard: Heard) => this.#heard(heard);
    this.#heart = parts.heartOf(ports, { nonce, news: () => this.#news(), onHeard });
    const onOver = (over: readonly HeldRun[], lost?: ReadonlySet<HeldRun>) =>
      this.#over(over, lost);
    this.#grants = parts.grantsOf(ports);
    const writes = { store: this.#footing, clock, random, pod: id };
    this.#settler = new Settler({ ...writes, onOver, onStood: this.#rewinder.acknowledged });
    const drop = (held: HeldRun) => this.#drop(held);
    this.persisting = persistingOf({ ...writes, holdings, drop, over: onOver });
    const lose = (held: HeldRun) => this.#lose(held);
    this.#archiver = parts.archiverOf(ports, { store: this.#footing, holdings, lose });
    this.#acceptor = parts.acceptorOf(ports, this);
    this.#claimer = new Claimer({
      ...writes,
      idlePollMs: times.idlePollMs,
      request: () => parts.requestOf(ports),
      slice: this.#grants && ((...asked) => this.#grants!.allowance.slice(...asked)),
      room: () => this.#room(),
      capacity: () => this.capacity.count,
      accept: (tasks) => this.#acceptor.accept(tasks),
    });
  }

  /** Resolves when its heart can beat at once: to be awaited before it registers. */
  ready = (): Promise<void> => this.#heart.ready();

  /** Beats, takes over from predecessors once it is `alone` with its journal, and begins to claim. */
  async start(seen: JournalSeen, alone: () => Promise<void>): Promise<void> {
    const { store, engine, clock, random, times } = this.#ports;
    this.#grants?.begin();
    this.#heart.start();
    await this.#trust.when(() => this.isDead);
    // Its name may be that of a living process, in which it must take nothing from anybody.
    if (this.isDead) return;
    await alone();
    // Nothing that it takes over now could be recorded: others take it, as long as it cannot write.
    await this.#stall.whenOver(this);
    if (this.isDead) return;
    const { holdings, id: pod } = this;
    const [acceptor, forgetter, keeper] = [this.#acceptor, this.#forgetter, this];
    const mine = { acceptor, holdings, forgetter, keeper, pod, silentMs: times.silentMs };
    const before = parts.predecessorsOf(this.#ports, seen);
    const adopter = new Adopter({ store, footing: this.#footing, engine, clock, ...mine });
    await adopter.adopt(before);
    if (this.isDead) return;
    await this.#ports.routes.look();
    if (this.isDead) return;
    this.#archiver.start();
    this.#claimer.start();
    this.isReady = true;
    adopter.finish(() => random.fraction()).catch(() => undefined);
  }

  /** Something may be ready to claim. */
  hint = (): void => this.#claimer.hint();
  notified = (notice?: Notice): void => parts.notified(this.#claimer, this.id, notice);
  holdClaims = (): Promise<void> => this.#claimer.stop();
  goOnClaiming = (): void => void (this.isDead || this.isDraining || this.#claimer.start());

  isCurrent(aloneMs = 0): boolean {
    // A server that has taken over may have given the run to others: that is looked up first.
    const isSure = aloneMs > 0 || this.#footing.isFirm;
    return !this.isDead && isSure && this.#lateMs < aloneMs;
  }

  /** For how long past its deadline the store has not answered; undefined while it does. */
  get aloneMs(): number | undefined {
    const lateMs = this.#lateMs;
    return !this.isDead && Number.isFinite(lateMs) && lateMs >= 0 ? lateMs : undefined;
  }

  get #lateMs(): number {
    return this.#ports.clock.monotonicMs() - this.#heart.deadlineMs;
  }

  whenCurrent(held: HeldRun): Promise<boolean> {
    tell('pod.alone', () => ({ pod: this.id, run: held.claim.task }));
    return this.#trust.whenAgain(() => this.isDead || held.isOver || this.isDraining);
  }

  grew(): void {
    this.holdings.unflushed++;
    this.#archiver.grew();
  }
  flush = (held: HeldRun): Promise<void> => this.#archiver.flush(held);
  settle(held: HeldRun, settlement: Settlement): void {
    this.#settler.push(held, settlement);
    this.#claimer.roomed();
  }
  blocked(held: HeldRun, reason: string, waitsFor?: 'key'): void {
    this.#ports.routes.giveBack(held, reason, waitsFor);
  }

  /** No claim commits after this has resolved. */
  async stopClaiming(): Promise<void> {
    this.#trust.wake();
    this.isDraining = true;
    await Promise.all([this.#ports.store.markDraining(this.id), this.#claimer.stop()]);
  }

  /** What has been handed in is settled; then the pod says itself that it is no more. */
  async end(budgetMs: number): Promise<void> {
    // What could not be given back at a boundary is swept: others go on from what is archived.
    const lastWords = Promise.all([this.#settler.idle(), this.#archiver.flushNow()]);
    await Promise.race([lastWords, this.#sleepers.sleep(budgetMs)]);
    this.#stop();
    // Its thread takes a while to end; a beat that it still sends is refused, and heard by nobody.
    const stopped = this.#heart.stop();
    const { store, clock } = this.#ports;
    await fenceProven(this.id, { store, clock, by: this.id, budgetMs: LAST_FENCE_MS });
    await givePausedBack(store, this);
    if (this.holdings.size === 0) await store.retire(this.id);
    await stopped;
  }

  /** Lets go of everything without a word to the store. */
  abandon(): void {
    this.#stop();
    this.#heart.stop().catch(() => undefined);
  }

  /** Its runs are no longer ours: whatever they come to counts for nothing. */
  die(): void {
    this.abandon();
    for (const held of this.holdings.all()) this.#drop(held);
  }

  #stop(): void {
    this.isDead = true;
    this.isReady = false;
    this.#claimer.stop().catch(() => undefined);
    this.#settler.stop();
    this.#archiver.stop();
    this.#sleepers.wakeAll();
    this.#trust.wake();
  }

  #room(): number {
    const { journal, limits, routes } = this.#ports;
    if (!this.isReady || this.isDraining || journal.stalledBy || !this.isCurrent()) return 0;
    const settling = this.#settler.waiting;
    const room = parts.roomIn(this.holdings, this.capacity.count, settling, limits.unflushedMax);
    return room === 0 ? 0 : (this.#grants?.allowance.room(routes.all, room) ?? room);
  }

  #news(): News {
    const news = { lsn: this.#ports.journal.lsn, report: reportOf(this.#ports, this) };
    return this.#grants?.withApis(news, isLeading(this)) ?? news;
  }

  #heard(heard: Heard): void {
    const { answer, sentMs } = heard;
    const { clock, onDead, onBeat, onDrainWanted } = this.#ports;
    if (this.isDead) return;
    if (answer.kind === 'refused') {
      const why = parts.deathOf(answer);
      this.die();
      tell('pod.died', () => ({ pod: this.id, why }));
      return onDead(why);
    }
    this.#ports.engine.held.forget(this.holdings.certain(sentMs));
    this.#archiver.proved(sentMs);
    this.watch.see(answer, clock.monotonicMs());
    this.capacity.feel(this.#ports.pressure());
    followControls(answer.controls, { engine: this.#ports.engine, holdings: this.holdings });
    if (answer.desired === 'drain') onDrainWanted();
    this.#doubts.weigh(answer);
    this.#trust.wake();
    this.#grants?.heard(heard, { isLeader: isLeading(this) });
    this.#claimer.roomed();
    this.#ports.routes.follow(answer.headcount).then((hasMore) => hasMore && this.hint());
    onBeat(this);
    this.#stall.look(this);
  }

  #reconcile(): Promise<void> {
    const { id: pod, holdings } = this;
    const { payloadBytesMax } = this.#ports.limits;
    const isPast = ({ epoch }: ClaimedTask) => this.#footing.isPast(epoch);
    const accept = (tasks: readonly ClaimedTask[]) => this.#acceptor.accept(tasks, { isPast });
    const onLost = (held: HeldRun) => this.#lose(held);
    return reconcile({ pod, holdings, store: this.#footing, payloadBytesMax, accept, onLost });
  }

  /** The store has answered: these are over, here too. What was lost is kept while that is in doubt. */
  #over(over: readonly HeldRun[], lost: ReadonlySet<HeldRun> = new Set()): void {
    for (const held of lost) this.#superseded.keep(held);
    for (const held of over) this.holdings.remove(held);
    this.holdings.doubt(lost, this.#ports.clock.monotonicMs());
    this.#forgetter.forget(over.filter((held) => !lost.has(held)).map(({ claim }) => claim.task));
    this.#claimer.roomed();
    this.#ports.onEnded();
  }

  #lose(held: HeldRun): void {
    tell('claim.lost', () => ({ ...held.claim, run: held.claim.task, what: 'run' }));
    this.#drop(held);
    this.#over([held]);
  }

  #drop(held: HeldRun): void {
    held.isOver = true;
    this.#trust.wake();
    this.#superseded.keep(held);
    this.#ports.engine.held.drop(held.claim.task, new ClaimLostError(held.claim));
  }
}
