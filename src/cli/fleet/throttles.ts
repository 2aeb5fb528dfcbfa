/** fleetq throttles list|show|watch|pin|reset: how the APIs are that the fleet calls, and their limits. */
import { pinNote } from '../../admin/desk/pin-note.ts';
import { throttleViews } from '../../admin/desk/throttle-views.ts';
import { type Config, nearest } from '../../config/index.ts';
import {
  isoTime,
  parseDuration,
  pause,
  show,
  showDuration,
  systemClock,
} from '../../ground/index.ts';
import { PIN_MAX, type Store, type ThrottleOrder } from '../../store/index.ts';
import { API_NAME, isApiName, type ThrottleView, throttleViewOf } from '../../throttle/index.ts';
import type { Execute, Options } from '../command.ts';
import { ApiNotFoundError, UsageError } from '../errors.ts';
import { Exit } from '../exit.ts';
import { readTimeout } from '../input.ts';
import type { Output } from '../output.ts';
import { type Column, plain } from '../table.ts';
import { reasonFor, requestIdOf, whoami } from './acting.ts';
import { codecFor, withReader, withStore } from './open.ts';

const LOOK_MS = 1_000;
/** As people write one: what Number() reads besides, such as 0x10 or ' 5 ', is more likely a slip. */
const PLAIN_NUMBER = /^(\d+(\.\d+)?|\.\d+)$/;

export const list: Execute = async ({ config, output }) => {
  const views = await withViews(config, (look) => look());
  if (output.isJson) output.json({ throttles: views });
  else if (views.length > 0) output.table(views, COLUMNS);
  else output.note('no API has been called by a pod yet');
  return views.length > 0 ? Exit.ok : Exit.nothingFound;
};

export const showOne: Execute = async ({ config, output }, _, api) => {
  const view = await withViews(config, async (look) => viewIn(await look(), api!));
  if (output.isJson) output.json(view);
  else showView(view, output);
  return Exit.ok;
};

export const watch: Execute = async ({ config, output }, options, api) => {
  const untilMs = systemClock.monotonicMs() + readTimeout(options['timeout']);
  return withViews(config, async (look) => {
    let said = '';
    while (systemClock.monotonicMs() < untilMs) {
      const view = viewIn(await look(), api!);
      const text = output.isJson ? withoutAge(view) : sentenceOf(view);
      if (text !== said) {
        if (output.isJson) output.json(view);
        else output.line(`${isoTime(systemClock.now())}  ${plain(text)}`);
      }
      said = text;
      await pause(systemClock, LOOK_MS);
    }
    return Exit.ok;
  });
};

function sentenceOf(view: ThrottleView): string {
  const { state, decision } = view;
  const last = decision === undefined ? '' : `, ${decision} last`;
  return `${state} (${limitText(view)}${last})`;
}

/** Everything else in it is a change; that it grows older is none. */
function withoutAge({ ageMs: _, ...view }: ThrottleView): string {
  return JSON.stringify(view);
}

export const pin: Execute = async ({ config, output }, options, api, count) => {
  const order = pinOf(api!, count!, options);
  return withStore(config, (store) => obey(store, output, options, order));
};

export const reset: Execute = async ({ config, output }, options, api) =>
  withStore(config, async (store) => {
    viewIn(await viewsOf(store), api!);
    return obey(store, output, options, { what: 'reset', api: api! });
  });

function pinOf(api: string, count: string, options: Options): ThrottleOrder {
  if (count === 'off') {
    if (options['for'] === undefined) return { what: 'unpin', api };
    throw new UsageError('--for is for a limit that is fixed: one is let go of at once', {
      hint: 'leave --for out',
    });
  }
  // Not before: one that was fixed under a name that is refused by now can still be let go of.
  if (!isApiName(api)) {
    throw new UsageError(`the name of an API is a ${API_NAME}, got ${plain(show(api))}`, {
      hint: 'list those that are called: fleetq throttles list',
    });
  }
  const cap = PLAIN_NUMBER.test(count) ? Number(count) : Number.NaN;
  if (!(cap > 0 && cap <= PIN_MAX)) {
    throw new UsageError(`a limit is a number above 0 and up to ${PIN_MAX}, got ${show(count)}`, {
      hint: `to let go of one: fleetq throttles pin ${api} off`,
    });
  }
  const text = options['for'] as string | undefined;
  const forMs = text === undefined ? undefined : parseDuration(text);
  if (text !== undefined && !(forMs !== undefined && forMs > 0)) {
    const hint = "such as '30m', and at most ten years";
    throw new UsageError(`--for wants a duration above 0, got ${show(text)}`, { hint });
  }
  return { what: 'pin', api, cap, ...(forMs === undefined ? {} : { forMs }) };
}

async function obey(store: Store, output: Output, options: Options, order: ThrottleOrder) {
  const { api, what } = order;
  const isDryRun = options['dryRun'] === true;
  const { kind } = await store.changeThrottle({
    requestId: requestIdOf(options['requestId']),
    who: whoami(),
    via: 'cli',
    order,
    reason: reasonFor(options['reason']),
    isDryRun,
  });
  const isChanged = kind === 'done' && !isDryRun;
  if (output.isJson) output.json({ api, what, isChanged });
  else output.line(`${plain(api)}\t${what}`);
  if (kind === 'already') output.note(`there is nothing to change: ${plain(nothingTo(order))}`);
  else if (isDryRun) output.note('nothing was changed');
  else output.note('whoever leads heeds it with its next heartbeat');
  if (order.what === 'pin') {
    const note = pinNote(await viewsOf(store), order);
    if (note !== undefined) output.note(plain(note));
  }
  return Exit.ok;
}

function nothingTo({ what, api }: ThrottleOrder): string {
  return what === 'unpin' ? `${api} is not pinned` : `nothing is known of ${api}`;
}

/** For what only looks: with the runs that are parked. */
function withViews<T>(
  config: Config,
  act: (look: () => Promise<ThrottleView[]>) => Promise<T>,
): Promise<T> {
  return withReader(config, (reader) => act(() => throttleViews(reader, codecFor(config))));
}

async function viewsOf(store: Store): Promise<ThrottleView[]> {
  const [rows, pods] = await Promise.all([store.throttles(), store.pods()]);
  return rows.map((row) => throttleViewOf(row, pods));
}

function viewIn(views: readonly ThrottleView[], api: string): ThrottleView {
  const found = views.find((view) => view.api === api);
  if (found) return found;
  const near = nearest(
    api,
    views.map((view) => view.api),
  );
  throw new ApiNotFoundError(`no pod has called an API ${show(api)}`, {
    hint: near === undefined ? 'list them with: fleetq throttles list' : `did you mean ${near}?`,
  });
}

const COLUMNS: readonly Column<ThrottleView>[] = [
  { head: 'api', text: ({ api }) => api, isElastic: true },
  { head: 'limit', text: ({ cap }) => rounded(cap), align: 'right' },
  { head: 'goes by', text: (view) => basisOf(view) ?? '-' },
  { head: 'out', text: ({ now }) => `${now?.inFlight ?? 0}`, align: 'right' },
  { head: 'waiting', text: ({ now }) => `${now?.waiting ?? 0}`, align: 'right' },
  { head: 'parked', text: ({ parked }) => parkedText(parked), align: 'right' },
  { head: 'pods', text: ({ pods }) => `${pods.length}`, align: 'right' },
  { head: 'state', text: ({ state }) => state, isElastic: true },
];

const POD_COLUMNS: readonly Column<ThrottleView['pods'][number]>[] = [
  { head: 'pod', text: ({ pod }) => pod },
  { head: 'name', text: ({ name }) => name },
  { head: 'share', text: ({ share }) => rounded(share), align: 'right' },
  { head: 'out', text: ({ inFlight }) => `${inFlight}`, align: 'right' },
  { head: 'waiting', text: ({ waiting }) => `${waiting}`, align: 'right' },
];

function showView(view: ThrottleView, output: Output): void {
  const { api, state, learned, latencyMs, now, pods, parked, decision, ageMs } = view;
  output.line(plain(`${api}: ${state}`));
  output.line(limitText(view));
  if (learned !== undefined) output.line(`found to go well: ${rounded(learned)}`);
  const declared = declaredText(view);
  if (declared !== '') output.line(`declared at most: ${declared}`);
  if (latencyMs !== undefined) output.line(`a call takes ${showDuration(latencyMs)}`);
  if (now) {
    const { sent, ok, throttled, failed } = now;
    output.line(`in 10 s: ${sent} sent, ${ok} answered, ${throttled} refused, ${failed} failed`);
  }
  if (parked.count > 0 || !parked.isExact) output.line(`parked runs: ${parkedText(parked)}`);
  if (view.pinned !== undefined) {
    const until = view.pinnedUntil === undefined ? '' : `, until ${isoTime(view.pinnedUntil)}`;
    output.line(plain(`fixed to ${rounded(view.pinned)} by ${view.pinnedBy}${until}`));
  }
  output.note(`${decision ?? 'reported'} last, ${showDuration(ageMs)} ago`);
  if (pods.length > 0) output.table(pods, POD_COLUMNS);
}

function limitText(view: ThrottleView): string {
  const basis = basisOf(view);
  return `limit ${rounded(view.cap)}${basis === undefined ? '' : `, ${basis}`}`;
}

function basisOf(view: ThrottleView): string | undefined {
  if (view.isAdaptive === undefined) return undefined;
  if (view.isAdaptive) return 'adaptive';
  return declaredText(view) === '' ? 'nothing is declared' : 'by what is declared';
}

function declaredText({ ceiling, perSecond, costPerMinute }: ThrottleView): string {
  const parts = [
    ceiling !== undefined && `${ceiling.toLocaleString('en')} at once`,
    perSecond !== undefined && `${perSecond.toLocaleString('en')} a second`,
    costPerMinute !== undefined && `cost of ${costPerMinute.toLocaleString('en')} a minute`,
  ];
  return parts.filter((part) => part !== false).join(', ');
}

function parkedText({ count, isExact }: ThrottleView['parked']): string {
  return `${count}${isExact ? '' : '+'}`;
}

function rounded(value: number | undefined): string {
  return value === undefined ? '-' : `${Math.round(value * 10) / 10}`;
}
