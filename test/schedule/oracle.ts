/**
 * When cron expressions tick, found without croner: minute by minute through a year, by the time that a
 * clock on the wall shows according to Intl. Knows numbers, lists, ranges, steps and L for the last day.
 */

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY_MINUTES = 24 * 60;

/** The ticks of each expression at or after `fromMs` and before `untilMs`, which are whole hours. */
export function ticksByWalking(
  expressions: readonly string[],
  zone: string,
  fromMs: number,
  untilMs: number,
): number[][] {
  const wallAt = wallOf(zone);
  const rules = expressions.map(ruleOf);
  const found = expressions.map((): number[] => []);
  // The latest that the wall has shown: where daylight saving ends, it shows earlier ones again.
  let latest = wallAt(fromMs) - 1;
  for (let hour = fromMs; hour < untilMs; hour += HOUR) {
    const first = wallAt(hour);
    // Intl is asked once an hour, and each minute where the wall leaps.
    const isSteady = wallAt(hour + HOUR) - first === 60;
    for (let minute = 0; minute < 60; minute += 1) {
      const ms = hour + minute * MINUTE;
      const wall = isSteady ? first + minute : wallAt(ms);
      rules.forEach((rule, index) => {
        if (isTick(rule, wall, latest)) found[index]!.push(ms);
      });
      latest = Math.max(latest, wall);
    }
  }
  return found;
}

interface Rule {
  /** One minute and one hour: leapt over it comes after the leap, and shown twice it comes once. */
  readonly isFixed: boolean;
  matches(wall: number): boolean;
}

function isTick({ isFixed, matches }: Rule, wall: number, latest: number): boolean {
  if (!isFixed) return matches(wall);
  for (let passed = latest + 1; passed <= wall; passed += 1) if (matches(passed)) return true;
  return false;
}

/** What the wall shows, as minutes since 1970 as if it were UTC. */
function wallOf(zone: string): (ms: number) => number {
  const format = new Intl.DateTimeFormat('en', {
    timeZone: zone,
    hourCycle: 'h23',
    ...({ year: 'numeric', month: 'numeric', day: 'numeric' } as const),
    ...({ hour: 'numeric', minute: 'numeric' } as const),
  });
  return (ms) => {
    const parts = Object.fromEntries(
      format.formatToParts(ms).map(({ type, value }) => [type, Number(value)]),
    ) as Record<'year' | 'month' | 'day' | 'hour' | 'minute', number>;
    return Date.UTC(parts.year, parts.month - 1, parts.day, parts.hour, parts.minute) / MINUTE;
  };
}

function ruleOf(expression: string): Rule {
  const [minutes, hours, days, months, weekdays] = expression.split(' ') as [
    ...[string, string, string, string, string],
  ];
  const isMinute = fieldOf(minutes, 0, 59);
  const isHour = fieldOf(hours, 0, 23);
  const isDay = dayRuleOf(days, months, weekdays);
  return {
    isFixed: /^\d+ \d+ /.test(expression),
    matches: (wall) =>
      isMinute(wall % 60) &&
      isHour(Math.floor((wall % DAY_MINUTES) / 60)) &&
      isDay(new Date(wall * MINUTE)),
  };
}

function dayRuleOf(days: string, months: string, weekdays: string): (date: Date) => boolean {
  const isDay = fieldOf(days === 'L' ? '0' : days, 1, 31);
  const isMonth = fieldOf(months, 1, 12);
  const isWeekday = fieldOf(weekdays, 0, 6);
  return (date) => {
    if (!isMonth(date.getUTCMonth() + 1)) return false;
    const isLast = new Date(date.getTime() + 24 * HOUR).getUTCDate() === 1;
    const onDay = isDay(date.getUTCDate()) || (days === 'L' && isLast);
    const onWeekday = isWeekday(date.getUTCDay());
    // Where both are said, either is enough.
    return days === '*' || weekdays === '*' ? onDay && onWeekday : onDay || onWeekday;
  };
}

function fieldOf(text: string, min: number, max: number): (value: number) => boolean {
  const allowed = new Set<number>();
  for (const part of text.split(',')) {
    const [range, step = '1'] = part.split('/') as [string, string?];
    const [first, last = first] = range === '*' ? [min, max] : range.split('-').map(Number);
    for (let value = first!; value <= last!; value += Number(step)) allowed.add(value);
  }
  return (value) => allowed.has(value);
}
