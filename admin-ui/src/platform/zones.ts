/** Time zones by their names, as far as the browser knows them. */

/** Swedish dates are those of ISO 8601, but for the blank in the middle. */
const WRITER = 'sv-SE';
const writers = new Map<string, Intl.DateTimeFormat>();

function writerOf(zone: string): Intl.DateTimeFormat {
  const known = writers.get(zone);
  if (known) return known;
  const writer = new Intl.DateTimeFormat(WRITER, {
    timeZone: zone,
    ...{ year: 'numeric', month: '2-digit', day: '2-digit', hourCycle: 'h23' },
    ...{ hour: '2-digit', minute: '2-digit', second: '2-digit', fractionalSecondDigits: 3 },
  });
  writers.set(zone, writer);
  return writer;
}

/** The zone of this name, however its letters are written; undefined where there is none. */
export function zoneNamed(name: string): `${string}/${string}` | undefined {
  try {
    const zone = name.includes('/') ? writerOf(name).resolvedOptions().timeZone : '';
    return zone.includes('/') ? (zone as `${string}/${string}`) : undefined;
  } catch {
    return undefined;
  }
}

/** What clocks there show, in the form of ISO 8601 without a zone. */
export function timeIn(zone: string, at: number): string {
  return writerOf(zone).format(at).replace(' ', 'T').replace(',', '.');
}

export const zoneNames = (): readonly string[] => Intl.supportedValuesOf('timeZone');
