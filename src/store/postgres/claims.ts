/** Tasks given to pods: claimed, found again by those who hold them, or shown by their host. */
import type { Clock, RunId } from '../../ground/index.ts';
import { boundedSpan, PAYLOAD_BYTES_MAX } from '../bounds.ts';
import { type Behind, inShares } from '../shares.ts';
import type { MirrorAnswer } from '../store.ts';
import type { ClaimedTask, ClaimRequest, MirroredRun } from '../tasks.ts';
import type { PodId } from '../words.ts';
import { batchesOf, columnsOf } from './batches.ts';
import { behindOf, claimSingly } from './careful-claim.ts';
import { ClaimEdge } from './claim-edge.ts';
import { isBadRow } from './driver-errors.ts';
import type { PostgresLimits } from './limits.ts';
import type { Pool, Row } from './pool.ts';
import { claimedTaskOf, claimOf, inLineOf } from './rows.ts';
import * as statements from './step-tracker-claim.sql.ts';
import { mendHeld } from './step-tracker-mend.sql.ts';
import type { PostgresTurns } from './turns.ts';

const MIRROR_BATCH_MAX = 500;
const CLAIM_COUNT_MAX = 1_000;
const HELD_COUNT_MAX = 10_000;
/** In `cas`, out of so many times what is wanted each pod picks its own. */
const OVER_FETCH = 4;

export class PostgresClaims {
  readonly #pool: Pool;
  readonly #turns: PostgresTurns;
  readonly #limits: PostgresLimits;
  readonly #clock: Clock;
  readonly #edge = new ClaimEdge();

  constructor(pool: Pool, turns: PostgresTurns, limits: PostgresLimits, clock: Clock) {
    this.#pool = pool;
    this.#turns = turns;
    this.#limits = limits;
    this.#clock = clock;
  }

  /** So many pods are up, and claim too. */
  sharedBy(podCount: number): void {
    this.#edge.sharedBy(podCount);
  }

  async claim(request: ClaimRequest): Promise<ClaimedTask[]> {
    const claimed = await this.#claim(request);
    if (request.head !== 'ready' || request.isReserve) return claimed;
    if (claimed.length === 0) return (await this.#turns.look()) ? this.#claim(request) : claimed;
    // What is claimed does not wait for the turns of other tasks.
    const wasFull = claimed.length >= Math.min(request.countMax, CLAIM_COUNT_MAX);
    if (this.#turns.isLate({ wasFull })) this.#turns.lookLater();
    return claimed;
  }

  async #claim(request: ClaimRequest): Promise<ClaimedTask[]> {
    const { pod, routes, journal, token, head, timeline } = request;
    const { payloadBytesMax = PAYLOAD_BYTES_MAX } = request;
    const count = Math.min(request.countMax, CLAIM_COUNT_MAX);
    if (count <= 0 || routes.length === 0) return [];
    const { claimMode } = this.#pool.way;
    const isWhole = head !== 'ready' || this.#edge.isWhole(this.#clock.monotonicMs());
    const dueFrom = isWhole ? [] : this.#edge.dueFromOf(routes);
    const valuesOf = (fetchMax: number, max: number, from: readonly number[], behind: Behind) => {
      const rest = [token, payloadBytesMax, timeline ?? null, max];
      return [pod, routes, journal, fetchMax, behindOf(behind), from, ...rest];
    };
    const unlimited = async (max: number) => {
      const fetchMax = claimMode === 'cas' ? max * OVER_FETCH : max;
      const values = valuesOf(fetchMax, max, dueFrom, request.behind);
      try {
        if (head !== 'ready')
          return await this.#pool.often(statements.claimTasks[claimMode][head], values);
        return await this.#claimReady(isWhole, values, routes);
      } catch (error) {
        if (!isBadRow(error)) throw error;
        return claimSingly(this.#pool, request, max, payloadBytesMax);
      }
    };
    const rows = await this.#limits.claim(
      request,
      count,
      (max, behind) => valuesOf(max, max, [], behind),
      unlimited,
    );
    return inShares(rows, inLineOf, request.behind).map(claimedTaskOf);
  }

  async #claimReady(
    isWhole: boolean,
    values: readonly unknown[],
    routes: readonly string[],
  ): Promise<Row[]> {
    const { claimMode } = this.#pool.way;
    const fromMs = this.#clock.monotonicMs();
    const rows = isWhole
      ? await this.#pool.often(statements.claimTasks[claimMode].ready, values)
      : await this.#pool.often(statements.claimKnown[claimMode], [
          ...values,
          ...this.#edge.knownOf(routes),
        ]);
    const nowMs = this.#clock.monotonicMs();
    this.#edge.looked(isWhole, rows, { nowMs, tookMs: nowMs - fromMs });
    return rows;
  }

  async held(
    pod: PodId,
    after: string,
    countMax: number,
    payloadBytesMax = PAYLOAD_BYTES_MAX,
  ): Promise<ClaimedTask[]> {
    const values = [pod, after, Math.min(countMax, HELD_COUNT_MAX), payloadBytesMax];
    const found = await this.#pool.query(statements.selectHeld, values);
    if (found.every((row) => Number.isSafeInteger(row['claim_epoch']))) {
      return found.map(claimedTaskOf);
    }
    // An epoch that was rounded on its way here fences nothing: its claim could never be settled.
    await this.#pool.query(mendHeld, [pod]);
    return (await this.#pool.query(statements.selectHeld, values)).map(claimedTaskOf);
  }

  async hasSuspects(routes: readonly string[]): Promise<boolean> {
    if (routes.length === 0) return false;
    const [row] = await this.#pool.often(statements.selectHasSuspects, [routes]);
    return row?.['has_suspects'] === true;
  }

  async mirror(pod: PodId, runs: readonly MirroredRun[]): Promise<MirrorAnswer[]> {
    const claims = new Map<string, Row>();
    for (const batch of batchesOf(runs, MIRROR_BATCH_MAX, ({ id }) => id)) {
      const columns = columnsOf<MirroredRun>(batch, [
        (run) => run.id,
        (run) => run.machine,
        (run) => run.version,
        (run) => run.payload,
        (run) => run.journal,
        ({ deadlineMs }) => deadlineMs && boundedSpan(deadlineMs),
        (run) => boundedSpan(run.startedAgoMs),
      ]);
      const held = await this.#pool.query(statements.mirrorRuns, [pod, ...columns]);
      for (const row of held) claims.set(row['task_id'] as string, row);
      const rest = batch.filter(({ id }) => !claims.has(id));
      if (rest.length === 0) continue;
      const asked = columnsOf(rest, [(run) => run.id, (run) => run.journal]);
      const found = await this.#pool.query(statements.selectMirrored, [pod, ...asked]);
      for (const row of found) claims.set(row['task_id'] as string, row);
    }
    return runs.map(({ id }) => mirrorAnswer(id, claims.get(id)));
  }
}

function mirrorAnswer(task: RunId, row: Row | undefined): MirrorAnswer {
  return row ? { ...claimOf(row), kind: 'held' } : { task, kind: 'foreign' };
}
