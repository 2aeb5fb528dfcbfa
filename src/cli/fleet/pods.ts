/** fleetq pods, fleetq leader: who is there, what each has in hand, and who leads. */
import { LIMIT_MAX } from '../../admin/index.ts';
import { type Config, durationOption } from '../../config/index.ts';
import { isoTime, type Json, showDuration, systemClock } from '../../ground/index.ts';
import {
  type LeaderTerm,
  leaderOf,
  type PodRow,
  type PodStatus,
  type Store,
  stallOf,
} from '../../store/index.ts';
import type { Execute } from '../command.ts';
import { Exit, type ExitCode } from '../exit.ts';
import type { Output } from '../output.ts';
import type { Style } from '../paint.ts';
import { countOf } from '../runs.ts';
import type { Column } from '../table.ts';
import { withReader, withStore } from './open.ts';

export interface PodView extends Omit<PodRow, 'report' | 'seq'> {
  readonly isLeader: boolean;
  /** Up or draining, and not heard of for longer than a silence. */
  readonly isSilent: boolean;
  readonly report: Json;
}

const STYLE: Record<PodStatus, Style> = {
  up: 'green',
  draining: 'yellow',
  dead: 'red',
  down: 'gray',
};

export const pods: Execute = async ({ config, output }, options) => {
  const all = await withStore(config, (store) => podsOf(store, config));
  const found = options['all'] === true ? all : all.filter(isThere);
  if (output.isJson) output.json({ pods: found });
  else if (found.length > 0) output.table(found, columns(systemClock.now()));
  else output.note('no pods; start one with: fleetq worker');
  return found.length > 0 ? Exit.ok : Exit.nothingFound;
};

/** One that rests comes back. */
function isThere(pod: PodView): boolean {
  return pod.status !== 'down' || isResting(pod);
}

export function isResting({ status, desired }: Pick<PodView, 'status' | 'desired'>): boolean {
  return status === 'down' && desired === 'rest';
}

function standingOf(pod: PodView): string {
  if (isResting(pod)) return 'resting';
  const trouble = pod.isSilent ? ', silent' : pod.isStalled ? ', stalled' : '';
  return `${pod.status}${pod.status === 'up' || pod.isSilent ? trouble : ''}`;
}

export const leader: Execute = async ({ config, output }, options) => {
  const termsMax =
    options['history'] === true ? countOf(options['limit'], '--limit', LIMIT_MAX) : 0;
  const { all, terms, now } = await withReader(config, async (reader, capabilities) => ({
    all: await podsOf({ pods: () => reader.pods(), capabilities }, config),
    terms: termsMax === 0 ? [] : await reader.leaderTerms(termsMax),
    now: await reader.now(),
  }));
  const found = all.find(({ isLeader }) => isLeader);
  if (termsMax > 0) return showTerms(output, found, terms, now);
  if (output.isJson) output.json({ leader: found ?? null });
  else if (found) output.line(`${found.pod}\t${found.name}`);
  else output.note(whyNoLeader(all));
  return found ? Exit.ok : Exit.nothingFound;
};

function whyNoLeader(all: readonly PodView[]): string {
  const stalled = all.filter(({ status, isSilent, isStalled }) => {
    return status === 'up' && !isSilent && isStalled;
  });
  if (stalled.length === 0) return 'no pod leads: no pod is up that was heard of lately';
  const which = stalled.map((pod) => `${pod.name} (${stallOf(pod)})`).join(', ');
  const pods = stalled.length === 1 ? 'pod' : 'pods';
  return `no pod leads: the ${pods} up cannot write the journal: ${which}; look at the disk there`;
}

/** Terms are told when they begin: the newest of a pod that leads no more ended nobody knows when. */
function showTerms(
  output: Output,
  leading: PodView | undefined,
  terms: readonly LeaderTerm[],
  now: number,
): ExitCode {
  if (output.isJson) output.json({ leader: leading ?? null, terms });
  else if (terms.length > 0) output.table(terms, termColumns(leading, terms, now));
  else output.note('nobody has led yet');
  return terms.length > 0 ? Exit.ok : Exit.nothingFound;
}

function termColumns(
  leading: PodView | undefined,
  [newest]: readonly LeaderTerm[],
  now: number,
): Column<LeaderTerm>[] {
  const isNow = (term: LeaderTerm) => term === newest && term.pod === leading?.pod;
  return [
    {
      head: 'SINCE',
      text: ({ since }) => `${showDuration(Math.max(0, now - since))} ago`,
      data: ({ since }) => isoTime(since),
      align: 'right',
    },
    { head: 'POD', text: ({ pod }) => pod },
    { head: 'NAME', text: ({ name }) => name, isElastic: true },
    {
      head: 'LEADS',
      text: (term) => (isNow(term) ? '★' : ''),
      data: (term) => (isNow(term) ? 'leader' : ''),
    },
  ];
}

/** Of a store, or of whoever reads there. */
export type Pods = Pick<Store, 'pods' | 'capabilities'>;

export function silenceOf(store: Pods, { silence }: Pick<Config, 'silence'>): number {
  return silence === undefined ? store.capabilities.silentMs : durationOption('silence', silence);
}

/** Every pod there is, oldest first. */
export async function podsOf(store: Pods, config: Pick<Config, 'silence'>): Promise<PodView[]> {
  const silenceMs = silenceOf(store, config);
  const rows = await store.pods();
  const isSilent = (row: PodRow) => row.silentMs >= (row.silenceMs ?? silenceMs);
  const leading = leaderOf(rows, silenceMs);
  return rows.map((row) => {
    const { seq: _, ...rest } = row;
    const isLive = row.status === 'up' || row.status === 'draining';
    return { ...rest, isLeader: row.pod === leading?.pod, isSilent: isLive && isSilent(row) };
  });
}

function columns(now: number): Column<PodView>[] {
  return [
    { head: 'POD', text: ({ pod }) => pod },
    { head: 'NAME', text: ({ name }) => name, isElastic: true },
    {
      head: 'STATUS',
      text: standingOf,
      style: (pod) => (pod.isSilent ? 'yellow' : STYLE[pod.status]),
    },
    { head: 'LEADS', text: ({ isLeader }) => (isLeader ? '★' : ''), data: leads },
    { head: 'HOLDS', text: ({ claimCount }) => `${claimCount}`, align: 'right' },
    { head: 'OF', text: ({ report }) => figure(report, 'capacity'), align: 'right' },
    { head: 'BEAT', text: (pod) => `${showDuration(pod.silentMs)} ago`, align: 'right' },
    { head: 'AGE', text: ({ bornAt }) => showDuration(Math.max(0, now - bornAt)), align: 'right' },
    { head: 'VERSION', text: ({ report }) => figure(report, 'version') },
  ];
}

function leads({ isLeader }: PodView): string {
  return isLeader ? 'leader' : '';
}

/** One figure of what a pod says of itself; anything may be in there. */
function figure(report: Json, name: string): string {
  const value = (Object(report) as Record<string, unknown>)[name];
  return typeof value === 'number' || typeof value === 'string' ? `${value}` : '';
}
