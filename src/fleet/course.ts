/**
 * Which records of which segments are a run's history, found by how the segments lie: by the rules of
 * history.ts, and without reading them. A record is looked at only where an owner went on from the
 * middle of a segment, for its hash.
 */
import type { RunId } from '../ground/index.ts';
import type { Outline } from '../store/index.ts';
import { BrokenHistoryError } from './errors.ts';
import { isOutcome } from './history.ts';

/** Records `from` to `until` of a segment. */
export interface CoursePart {
  readonly outline: Outline;
  readonly from: number;
  readonly until: number;
}

/** Tells the hash of a record of a segment; undefined where it is not in it. */
export type HashAt = (outline: Outline, seq: number) => Promise<string | undefined>;

/** The parts in their order: without a hole, from record 0 on. None where there are no records. */
export async function courseOf(
  task: RunId,
  outlines: readonly Outline[],
  /** By the task's row: whoever did not go on from there does not count as its last owner. */
  settled: { readonly seq: number; readonly hash: string } | undefined,
  hashAt: HashAt,
): Promise<readonly CoursePart[]> {
  const chains = chainsOf(task, outlines).reverse();
  if (!settled) return pathOf(task, chains, hashAt);
  for (let from = 0; from < chains.length; from++) {
    const path = await pathOf(task, chains.slice(from), hashAt);
    if ((await hashIn(path, settled.seq, hashAt)) === settled.hash) return path;
  }
  throw new BrokenHistoryError(task, 'the record it was settled at is not there');
}

interface Chain {
  readonly epoch: number;
  readonly firstSeq: number;
  readonly prevHash: string;
  readonly parts: CoursePart[];
}

const endOf = ({ parts, firstSeq }: Chain) => parts.at(-1)?.until ?? firstSeq - 1;

/** By epoch. */
function chainsOf(task: RunId, outlines: readonly Outline[]): Chain[] {
  const chains: Chain[] = [];
  const ordered = outlines
    .filter((outline) => !isOutcome(outline))
    .sort((a, b) => a.epoch - b.epoch || a.firstSeq - b.firstSeq);
  for (const outline of ordered) {
    const { epoch, firstSeq, prevHash } = outline;
    if (chains.at(-1)?.epoch !== epoch) chains.push({ epoch, firstSeq, prevHash, parts: [] });
    extend(task, chains.at(-1)!, outline);
  }
  return chains;
}

function extend(task: RunId, chain: Chain, outline: Outline): void {
  const end = endOf(chain);
  const { firstSeq, lastSeq, prevHash, epoch } = outline;
  // A flush that was lost on its way leaves a hole: what comes after it is of no use.
  if (firstSeq > end + 1 || lastSeq <= end) return;
  const last = chain.parts.at(-1)?.outline;
  if (last?.lastSeq === firstSeq - 1 && last.lastHash !== prevHash) {
    throw new BrokenHistoryError(task, `epoch ${epoch} does not go on from record ${firstSeq - 1}`);
  }
  chain.parts.push({ outline, from: end + 1, until: lastSeq });
}

/** From the first of these back to the beginning; the latest comes first. */
async function pathOf(
  task: RunId,
  chains: readonly Chain[],
  hashAt: HashAt,
): Promise<readonly CoursePart[]> {
  const path: CoursePart[] = [];
  let next: Chain | undefined;
  let reached = 0;
  for (const chain of chains) {
    if (next?.firstSeq === 0) break;
    const until: number = next ? next.firstSeq - 1 : endOf(chain);
    if (next && (await hashIn(chain.parts, until, hashAt)) !== next.prevHash) {
      reached = Math.max(reached, endOf(chain) + 1);
      continue;
    }
    path.unshift(...cut(chain.parts, until));
    next = chain;
    reached = 0;
  }
  if (next && next.firstSeq > 0) throw holeBefore(task, next, reached);
  return path;
}

function holeBefore(task: RunId, { epoch, firstSeq }: Chain, reached: number): BrokenHistoryError {
  return new BrokenHistoryError(
    task,
    reached < firstSeq
      ? `epoch ${epoch} begins at ${firstSeq}, after a gap`
      : `epoch ${epoch} does not go on from record ${firstSeq - 1}`,
  );
}

function cut(parts: readonly CoursePart[], until: number): CoursePart[] {
  return parts
    .filter(({ from }) => from <= until)
    .map((part) => ({ ...part, until: Math.min(part.until, until) }));
}

async function hashIn(
  parts: readonly CoursePart[],
  seq: number,
  hashAt: HashAt,
): Promise<string | undefined> {
  const part = parts.find(({ from, until }) => from <= seq && seq <= until);
  if (!part) return undefined;
  return part.outline.lastSeq === seq ? part.outline.lastHash : hashAt(part.outline, seq);
}
