/** What is said at the end of a page: how far was looked, and the command that goes on from there. */
import { isoTime } from '../ground/index.ts';

/** As many as a list shows where nothing is said. */
export const LIMIT_OTHERWISE = '50';

export interface Paged {
  /** The command that was given, and what it was asked for, without its page. */
  readonly command: readonly string[];
  readonly cursor: string | undefined;
  readonly lookedBackTo?: number | undefined;
}

/** For people; programs get the cursor. */
export function pageNotes({ command, cursor, lookedBackTo }: Paged): string[] {
  const looked =
    lookedBackTo === undefined
      ? []
      : [`its time was over: what was created since ${isoTime(lookedBackTo)} was looked at`];
  if (cursor === undefined) return looked;
  return [
    ...looked,
    `go on with: ${['fleetq', ...command, '--cursor', cursor].map(quoted).join(' ')}`,
  ];
}

/** The options that make a list what it is, as they were given. */
export function given(
  options: Readonly<Record<string, string | boolean | undefined>>,
  names: readonly string[],
): string[] {
  return names.flatMap((name) => {
    const value = options[name];
    const isSaid = typeof value === 'string' && !(name === 'limit' && value === LIMIT_OTHERWISE);
    return isSaid ? [`--${name}`, value] : [];
  });
}

/** As a shell takes it for one word. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
