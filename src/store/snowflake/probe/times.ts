/** How long statements take there, as pods will send them. */
import type { Bind } from '../executor.ts';
import type { TableKind } from '../migrate.ts';
import * as texts from './probe.sql.ts';
import type { Question } from './questions.ts';

const TRIES = 5;
/** A heartbeat is four statements, and is to be over long before the next. */
const STATEMENTS_OF_BEAT = 4;
const BEAT_MS_MAX = 5_000;

export const latency = (kind: TableKind): Question => ({
  name: `latency, ${kind}`,
  asks: `How long do statements take, the middle one of ${TRIES}?`,
  of: kind,
  ask: async (bench) => {
    const table = bench.tableOf(kind);
    await bench.lay(kind);
    const batch = JSON.stringify(texts.ROWS);
    const kinds: Readonly<Record<string, readonly [text: string, binds: readonly Bind[]]>> = {
      nothing: [texts.selectNothing, []],
      read: [texts.selectRow(table), [1]],
      update: [texts.compareAndSet(table), ['a', 1, 'a']],
      batch: [texts.updateBatch(table), [batch]],
      merge: [texts.mergeRows(table), [batch]],
    };
    return bench.one(async (ask) => {
      const figures: Record<string, number> = {};
      for (const [name, [text, binds]] of Object.entries(kinds)) {
        const elapsed: number[] = [];
        for (let count = 0; count < TRIES; count += 1) {
          const begunMs = bench.nowMs();
          await ask(text, binds);
          elapsed.push(bench.nowMs() - begunMs);
        }
        elapsed.sort((a, b) => a - b);
        figures[name] = Math.round(elapsed[Math.floor(TRIES / 2)]!);
      }
      const answer = Object.entries(figures)
        .map(([name, ms]) => `${name} ${ms} ms`)
        .join(', ');
      const beatMs = Math.max(figures['read']!, figures['update']!) * STATEMENTS_OF_BEAT;
      return beatMs <= BEAT_MS_MAX
        ? { verdict: 'ok', answer, concludes: 'a heartbeat every 15 s is kept with ease', figures }
        : {
            verdict: 'warn',
            answer,
            concludes:
              `a heartbeat takes ${beatMs} ms: give --heartbeat and --silence more time, ` +
              'or the warehouse less else to do',
            figures,
          };
    });
  },
});
