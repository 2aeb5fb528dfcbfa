/** What was divided, as pods tell each other of it. */
import { Numbers } from './numbers.ts';
import type { Division } from './shares.ts';

const RECENT_MAX = 8;

export function encodeDivision({ level, spare, isPlenty, arc, rates }: Division) {
  return {
    ...{ level, spare, plenty: isPlenty },
    ...(arc ? { from: arc.from, to: arc.to } : {}),
    ...(rates ? { rates: [rates.level, rates.spare] } : {}),
  };
}

export function decodeDivision(read: Numbers): Division {
  const [from, to] = [read.text('from'), read.text('to')];
  const arc = from !== undefined && to !== undefined ? { from, to } : undefined;
  const [told] = read.has('rates') ? read.rows('rates', 2, 1, true) : [];
  const rates = told && { level: told[0]!, spare: told[1]! };
  return {
    level: read.of('level'),
    spare: read.of('spare'),
    isPlenty: read.is('plenty'),
    arc,
    rates,
  };
}

/** Nothing, where one of them cannot be read: what was said before is not known then. */
export function decodeRecent(json: unknown): Division[] {
  const reads = (Array.isArray(json) ? json.slice(-RECENT_MAX) : []).map((one) => new Numbers(one));
  const found = reads.map(decodeDivision);
  return reads.every(({ isWhole }) => isWhole) ? found : [];
}
