/** Pods with heartbeats, a table of their reports, and the row of one API, in virtual time. */
import {
  Chief,
  defineThrottle,
  type PublishedRow,
  type ReportRow,
  type ThrottleOptions,
  Throttles,
} from '../../src/throttle/index.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { seededRandom } from '../support/seeded-random.ts';

export const BEAT_MS = 3_000;

export class Pods {
  readonly clock = new FakeClock();
  readonly all: Throttles[] = [];
  readonly #reports = new Map<string, { readonly atMs: number; readonly throttles: unknown }>();
  #row: PublishedRow | undefined;
  #writtenMs = 0;
  #chief: Chief | undefined;

  get nowMs(): number {
    return this.clock.monotonicMs();
  }

  /** The first of its heartbeats is sent at once. */
  join(options: ThrottleOptions): Throttles {
    const index = this.all.length;
    const throttles = [defineThrottle('api', options)];
    const random = seededRandom(index + 1);
    const pod = new Throttles({ clock: this.clock, random, isInFleet: true, throttles });
    this.all.push(pod);
    if (index === 0) this.#chief = new Chief((api) => pod.policyOf(api));
    pod.shares.begin(`pod-${index}`, BEAT_MS, this.nowMs);
    const beat = () => {
      this.#beat(`pod-${index}`, pod);
      this.clock.after(BEAT_MS, beat);
    };
    beat();
    return pod;
  }

  #beat(key: string, pod: Throttles): void {
    const { nowMs } = this;
    this.#reports.set(key, { atMs: nowMs, throttles: pod.shares.report(nowMs) });
    const rows = this.#row ? [{ ...this.#row, ageMs: nowMs - this.#writtenMs }] : [];
    const podCount = this.#reports.size;
    pod.shares.heard({ madeMs: nowMs, sentMs: nowMs, heardMs: nowMs, rows, podCount });
    if (pod !== this.all[0]) return;
    const reports = [...this.#reports].map(([name, { atMs, throttles }]): ReportRow => {
      return { pod: name, ageMs: nowMs - atMs, throttles };
    });
    const seen = { rows, reports, nowMs, beatMs: BEAT_MS, chance: () => 0.5 };
    for (const { api, epoch, state } of this.#chief!.look(seen)) {
      this.#row = { api, epoch: epoch + 1, ageMs: 0, state };
      this.#writtenMs = nowMs;
    }
  }

  /** The next leader knows no more than what was published. */
  changeLeader(): void {
    this.#chief!.forget();
  }

  after(ms: number): Promise<void> {
    return new Promise((resolve) => this.clock.after(ms, () => resolve()));
  }

  async run(seconds: number, tickMs = 50): Promise<void> {
    for (let ms = 0; ms < seconds * 1_000; ms += tickMs) await this.clock.advance(tickMs);
  }
}
