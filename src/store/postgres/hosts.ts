/**
 * Several servers of which one takes writes: postgres://user@one:5432,two:5432/database. Which one is
 * asked of all of them, and remembered until it fails. A server of an earlier timeline than one that has
 * answered is the past: what it would acknowledge is going to be lost, so it is not written to.
 */
import pg from 'pg';
import { type Cancel, type Clock, describeError } from '../../ground/index.ts';
import { StoreUnreachableError } from '../errors.ts';
import { sql } from './sql.ts';
import { readTimeline } from './timeline.ts';

interface Host {
  readonly host: string;
  readonly port: number;
}

/** What one of them says of itself. */
type Said = { readonly timeline: number } | { readonly why: string };

/** Once one takes writes, the others are waited for so long: one of them may be ahead of it. */
const GRACE_MS = 150;
/** A host that is not there may not say so at all. */
const ANSWER_MS_MAX = 2_000;

const askRole = sql`
  select pg_is_in_recovery() as is_standby,
         not pg_is_in_recovery() and current_setting('transaction_read_only') = 'off' as is_primary`;

export class Hosts {
  readonly #hosts: readonly Host[];
  readonly #config: (host: Host) => pg.ClientConfig;
  readonly #clock: Clock;
  readonly #answerMs: number;
  #current: Host | undefined;
  #finding: Promise<Host> | undefined;
  #timelineMin = 0;

  constructor(urls: readonly string[], config: pg.ClientConfig, clock: Clock) {
    this.#hosts = urls.map(hostOf);
    this.#clock = clock;
    this.#answerMs = Math.min(ANSWER_MS_MAX, (config.connectionTimeoutMillis ?? 0) / 2 || 1);
    this.#config = (host) => ({
      ...config,
      connectionString: urls[this.#hosts.indexOf(host)]!,
      connectionTimeoutMillis: this.#answerMs,
    });
  }

  /** The one that takes writes. */
  find(): Promise<Host> {
    if (this.#current) return Promise.resolve(this.#current);
    this.#finding ??= this.#ask().finally(() => {
      this.#finding = undefined;
    });
    return this.#finding;
  }

  /** It has failed, or takes no writes any more. */
  forget(): void {
    this.#current = undefined;
  }

  /** None of an earlier timeline is asked any more. */
  follow(timelineMin: number): void {
    this.#timelineMin = Math.max(this.#timelineMin, timelineMin);
    this.forget();
  }

  async #ask(): Promise<Host> {
    const said = new Map<Host, Said>();
    await new Promise<void>((resolve) => {
      let cancel: Cancel | undefined;
      const heard = (host: Host, word: Said) => {
        said.set(host, word);
        if (said.size === this.#hosts.length) {
          cancel?.();
          resolve();
        } else if ('timeline' in word && word.timeline >= this.#timelineMin) {
          cancel ??= this.#clock.after(GRACE_MS, resolve);
        }
      };
      for (const host of this.#hosts) this.#askOne(host).then((word) => heard(host, word));
    });
    return this.#choose(said);
  }

  async #askOne(host: Host): Promise<Said> {
    const client = new pg.Client(this.#config(host));
    // Said again by whatever waits for it.
    client.on('error', () => undefined);
    const cancel = this.#clock.after(this.#answerMs, () => client.end().catch(() => undefined));
    try {
      await client.connect();
      const ask = async (text: string) => (await client.query(text)).rows;
      const [row] = await ask(askRole);
      const timeline = row?.is_primary ? await readTimeline(ask) : undefined;
      if (timeline !== undefined) return { timeline: Number.parseInt(timeline, 16) };
      return { why: row?.is_standby === true ? 'a standby' : 'takes no writes' };
    } catch (error) {
      return { why: describeError(error).message || 'did not answer' };
    } finally {
      cancel();
      client.end().catch(() => undefined);
    }
  }

  #choose(said: ReadonlyMap<Host, Said>): Host {
    let best: { host: Host; timeline: number } | undefined;
    for (const [host, word] of said) {
      if ('why' in word || word.timeline < this.#timelineMin) continue;
      if (!best || word.timeline > best.timeline) best = { host, timeline: word.timeline };
    }
    if (!best) throw this.#nobody(said);
    this.#timelineMin = best.timeline;
    this.#current = best.host;
    return best.host;
  }

  #nobody(said: ReadonlyMap<Host, Said>): StoreUnreachableError {
    const words = this.#hosts.map((host) => {
      const word = said.get(host) ?? { why: 'did not answer' };
      const why = 'why' in word ? word.why : `of the earlier timeline ${word.timeline}`;
      return `${host.host}:${host.port}: ${why}`;
    });
    return new StoreUnreachableError(`no server of the store takes writes (${words.join('; ')})`, {
      hint: 'promote a standby; it is found by itself',
    });
  }
}

/** A client that looks for the server first, whoever makes it. */
export function locating(hosts: Hosts): typeof pg.Client {
  const connect = pg.Client.prototype.connect as () => Promise<pg.Client>;
  class Locating extends pg.Client {
    locate(callback?: (error?: Error) => void): Promise<pg.Client> | undefined {
      const connecting = hosts.find().then((found) => {
        Object.assign(this, found);
        return connect.call(this);
      });
      const known = connecting.catch((error) => {
        hosts.forget();
        throw error;
      });
      if (!callback) return known;
      known.then(() => callback(), callback);
      return undefined;
    }
  }
  // The driver declares two shapes of it, by whether there is a callback.
  Locating.prototype.connect = Locating.prototype.locate as typeof pg.Client.prototype.connect;
  return Locating;
}

function hostOf(url: string): Host {
  const { hostname, port } = new URL(url);
  return { host: hostname.replaceAll(/[[\]]/g, ''), port: Number(port || 5432) };
}
