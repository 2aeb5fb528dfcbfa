/** Pods in Postgres: who is there, who has fallen silent, and what the fleet can run. */
import type { Json, RunId } from '../../ground/index.ts';
import { StoreRefusedError } from '../errors.ts';
import type {
  Beat,
  BeatAnswer,
  Control,
  JournalSeen,
  PodBirth,
  PodRow,
  Worklist,
} from '../pods.ts';
import type { Announcement, KnownRoute } from '../tasks.ts';
import type { PodId, PodStatus } from '../words.ts';
import { beginTerm } from './leader-terms.sql.ts';
import {
  announceRoutes,
  selectAbandoned,
  selectChanged,
  selectKnown,
} from './machine-registry.sql.ts';
import * as statements from './pod-health.sql.ts';
import type { Pool } from './pool.ts';
import { glimpsedThrottles, glimpsesOf, podRowOf, reportsOf } from './rows.ts';
import { wakeBlocked } from './step-tracker-claim.sql.ts';

export class PostgresPods {
  readonly #pool: Pool;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  async register(birth: PodBirth): Promise<JournalSeen> {
    const { pod, name, journal, boot, lsn, routes, nonce, silenceMs } = birth;
    const report = JSON.stringify(birth.report);
    const silence = silenceMs && Math.ceil(silenceMs);
    const values = [pod, name, journal, boot, lsn, routes, report, nonce, silence];
    const born = await this.#pool.query(statements.registerPod, values);
    if (born.length === 0) {
      throw new StoreRefusedError(`the pod ${pod} has lived before`, {
        hint: 'every process registers under an id of its own',
      });
    }
    await this.#pool.query(wakeBlocked, [routes]);
    const lives = await this.#pool.query(statements.selectJournalSeen, [journal, pod]);
    return {
      boot: Math.max(0, ...lives.map((life) => life['boot'] as number)),
      lsn: Math.max(0, ...lives.map((life) => life['journal_lsn'] as number)),
      pods: lives
        .map((life) => ({ pod: life['pod_id'] as PodId, status: life['status'] as PodStatus }))
        .filter(({ status }) => status !== 'down'),
    };
  }

  async beat(given: Beat): Promise<BeatAnswer> {
    const { pod, seq, nonce, since, lsn, report, leads = false, times } = given;
    const { heartbeatMs = null, silentMs = null } = times ?? {};
    const said = [pod, seq, nonce, lsn, JSON.stringify(report), leads, since ?? null];
    const [taken] = await this.#pool.often(statements.beatPod, [...said, heartbeatMs, silentMs]);
    if (!taken) return this.#refused(pod);
    const own = { seq: taken['beat_seq'] as number, status: taken['status'] as 'up' | 'draining' };
    const fleet = glimpsesOf(taken['fleet']).map((glimpse) =>
      glimpse.pod === pod ? { ...glimpse, ...own } : glimpse,
    );
    return {
      kind: 'taken',
      ...own,
      desired: (taken['desired'] ?? undefined) as 'drain' | 'pause' | undefined,
      claimCount: taken['claim_count'] as number,
      controls: (taken['controls'] ?? []) as (Control & { task: RunId })[],
      fleet,
      seesAll: fleet.length === taken['pod_count'],
      headcount: {
        up: taken['up'] as number,
        heard: taken['heard'] as number,
        mark: String(taken['mark']),
      },
      throttles: glimpsedThrottles(taken['throttles']),
      reports: leads ? reportsOf(taken['reports']) : undefined,
      timeline: taken['timeline'] as string,
    };
  }

  async #refused(pod: PodId): Promise<BeatAnswer> {
    const [row] = await this.#pool.query(statements.selectBeat, [pod]);
    return {
      kind: 'refused',
      status: row?.['status'] as PodStatus | undefined,
      seq: row?.['beat_seq'] as number | undefined,
      nonce: row?.['beat_nonce'] as string | undefined,
    };
  }

  async markDraining(pod: PodId): Promise<boolean> {
    return (await this.#pool.query(statements.markPodDraining, [pod])).length > 0;
  }

  async requestDrain(pod: PodId): Promise<boolean> {
    return (await this.#pool.query(statements.requestPodDrain, [pod])).length > 0;
  }

  async beginTerm(pod: PodId, term: number): Promise<void> {
    await this.#pool.query(beginTerm, [pod, term]);
  }

  async pods(): Promise<PodRow[]> {
    return (await this.#pool.query(statements.selectPods)).map(podRowOf);
  }

  async announce(given: readonly Announcement[]): Promise<Announcement[]> {
    if (given.length === 0) return [];
    const routes = given.map(({ route }) => route);
    const machines = routes.map((route) => route.replace(/@[^@]*$/, ''));
    const fingerprints = given.map(({ fingerprint }) => fingerprint);
    const shapes = given.map(({ shape }) => shape);
    await this.#pool.query(announceRoutes, [routes, machines, fingerprints, shapes]);
    // A statement of its own: the first one does not see what a rival has announced meanwhile.
    const rows = await this.#pool.query(selectChanged, [routes, fingerprints]);
    return rows.map((row) => row as unknown as Announcement);
  }

  async abandoned(machines: readonly string[]): Promise<string[]> {
    const rows = await this.#pool.query(selectAbandoned, [machines]);
    return rows.map((row) => row['route'] as string);
  }

  async known(): Promise<KnownRoute[]> {
    const rows = await this.#pool.query(selectKnown);
    return rows.map(({ first_seen: firstSeenAt, ...row }) => ({ ...row, firstSeenAt }) as never);
  }

  async worklist(silentMs: number): Promise<Worklist> {
    const [row] = await this.#pool.query(statements.selectWorklist, [silentMs]);
    return {
      silent: glimpsesOf(row?.['silent']),
      dead: glimpsesOf(row?.['dead']),
      ownerless: ((row?.['ownerless'] as Json) ?? []) as unknown as PodId[],
      liveCount: (row?.['live_count'] as number | undefined) ?? 0,
    };
  }

  async fence(
    pod: PodId,
    by: PodId,
    because: { readonly silentMs: number } | 'proved',
  ): Promise<boolean> {
    const fenced =
      because === 'proved'
        ? this.#pool.query(statements.fenceProvenPod, [pod, by])
        : this.#pool.query(statements.fencePod, [pod, by, because.silentMs]);
    return (await fenced).length > 0;
  }

  async retire(pod: PodId): Promise<boolean> {
    return (await this.#pool.query(statements.retirePod, [pod])).length > 0;
  }
}
