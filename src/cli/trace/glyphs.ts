/** What a trace is drawn with: lines and blocks, or plain ASCII where the terminal knows no other. */

export interface Glyphs {
  readonly branch: string;
  readonly last: string;
  readonly trunk: string;
  readonly blank: string;
  /** Bars: of work, of what was lost, of waiting, of a step, of many that are not shown. */
  readonly work: string;
  readonly lost: string;
  readonly wait: string;
  readonly step: string;
  readonly many: string;
  /** The ends of the time axis, and what is between them. */
  readonly axis: readonly [string, string, string];
  /** Too short for a block of its own. */
  readonly moment: string;
  /** Where the run came into other hands. */
  readonly mark: string;
  readonly atMost: string;
  readonly ellipsis: string;
  readonly dot: string;
  /** Text as this terminal can show it. */
  readonly fit: (text: string) => string;
}

const LINES: Glyphs = {
  branch: '├─ ',
  last: '└─ ',
  trunk: '│  ',
  blank: '   ',
  work: '█',
  lost: '▒',
  wait: '─',
  step: '━',
  many: '░',
  axis: ['├', '─', '┤'],
  moment: '▏',
  mark: '▲',
  atMost: '≤ ',
  ellipsis: '…',
  dot: '·',
  fit: (text) => text,
};

const ASCII: Glyphs = {
  branch: '|- ',
  last: '`- ',
  trunk: '|  ',
  blank: '   ',
  work: '#',
  lost: 'x',
  wait: '-',
  step: '=',
  many: ':',
  axis: ['|', '-', '|'],
  moment: '|',
  mark: '^',
  atMost: '<=',
  ellipsis: '...',
  dot: '-',
  fit: (text) => text.replaceAll('…', '~').replaceAll(/[^ -~]/g, '?'),
};

/**
 * By the locale, as POSIX ranks its variables. Where none is set, as in most containers, the terminal
 * of whoever looks into it decides, and that is UTF-8 nearly everywhere.
 */
export function glyphsFor(env: Readonly<Record<string, string | undefined>>): Glyphs {
  const locale = env['LC_ALL'] || env['LC_CTYPE'] || env['LANG'];
  const isUtf8 = locale === undefined || locale === '' || /utf-?8/i.test(locale);
  return isUtf8 && env['TERM'] !== 'dumb' ? LINES : ASCII;
}
