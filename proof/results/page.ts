/** The page of results: what the proof tools counted, leg by leg, as they saved it themselves. */
import { readFileSync } from 'node:fs';
import { type Leg, savedLegs } from '../../test/support/save-leg.ts';
import { distinctMutants, distinctSeeds } from './distinct.ts';

/** How the figures of several legs become one; where a function has none, they are added up. */
type Combine = 'sum' | 'latest' | ((legs: readonly Leg[]) => number | undefined);

interface Column {
  readonly title: string;
  /** A path into the figures, with dots. */
  readonly figure: string;
  readonly combine: Combine;
}

interface Section {
  readonly tool: string;
  /** Where a tool does several things: the word by which its command says that it was this one. */
  readonly task?: string;
  readonly title: string;
  readonly says: string;
  readonly columns: readonly Column[];
  /** Figures that have to be there and to be 0. */
  readonly faults: readonly string[];
}

interface Found {
  readonly by: string;
  readonly defect: string;
  readonly stays: string;
}

const sum = (title: string, figure: string): Column => ({ title, figure, combine: 'sum' });
const latest = (title: string, figure: string): Column => ({ title, figure, combine: 'latest' });

const SECTIONS: readonly Section[] = [
  {
    tool: 'simulate',
    title: 'Simulation',
    says: 'Fleets of three to nine pods on virtual time, every delay and fault decided by a seed.',
    columns: [
      { title: 'seeds', figure: 'seeds', combine: distinctSeeds },
      sum('virtual hours', 'virtualHours'),
      sum('tasks', 'tasks'),
      sum('violations', 'violations'),
    ],
    faults: ['violations'],
  },
  {
    tool: 'exhaustive',
    title: 'Exhaustive search',
    says: 'A small fleet killed at every point, and again at every point of the recovery.',
    columns: [
      latest('points', 'points'),
      sum('cases', 'cases'),
      sum('pairs', 'pairs'),
      sum('violations', 'violations'),
    ],
    faults: ['violations'],
  },
  {
    tool: 'chaos',
    title: 'Chaos',
    says: 'Real processes, a real Postgres, an outside ledger that syncs, a history checker.',
    columns: [
      sum('tasks', 'tasks'),
      sum('SIGKILLs', 'kills'),
      sum('pauses past the deadline', 'pauses'),
      sum('crashes of Postgres', 'storeCrashes'),
      sum('lost', 'lost'),
      sum('doubled', 'doubled'),
      sum('zombie writes', 'zombieWrites'),
      sum('stuck', 'stuck'),
      sum('other rules broken', 'violations'),
      sum('pods that died by themselves', 'podDeaths'),
    ],
    faults: ['lost', 'doubled', 'zombieWrites', 'stuck', 'violations', 'podDeaths', 'leftBehind'],
  },
  {
    tool: 'deploys',
    task: 'roll',
    title: 'Rolling deploys',
    says: 'Real processes replaced one by one by others of another directory of code, and back.',
    columns: [
      sum('deploys', 'rolls'),
      sum('drains', 'drains'),
      sum('runs', 'runs'),
      sum('advanced', 'advanced'),
      sum('upgraded', 'upgraded'),
      sum('had to wait', 'blocked'),
      sum('lost, repeated, wrong or punished', 'broken'),
    ],
    faults: ['broken'],
  },
  {
    tool: 'deploys',
    task: 'plan',
    title: 'Plans held against deploys',
    says: 'What `fleetq plan` foretold of runs in flight, and what became of each.',
    columns: [sum('runs', 'runs'), sum('otherwise than foretold', 'disagreements')],
    faults: ['disagreements', 'leftAtEnd'],
  },
  {
    tool: 'mutants',
    title: 'Planted bugs',
    says: 'Each planted in a copy of the source, and to be noticed by the command named for it.',
    columns: [
      { title: 'planted', figure: 'planted', combine: (legs) => distinctMutants(legs) },
      { title: 'caught', figure: 'caught', combine: (legs) => distinctMutants(legs, true) },
      latest('median seconds to detect', 'medianSecondsToDetect'),
    ],
    faults: ['missed', 'unusable'],
  },
  {
    tool: 'differential',
    title: 'Stores compared',
    says: 'The same random calls to the tables in memory, to SQLite and to Postgres.',
    columns: [sum('sequences', 'sequences'), sum('differences', 'differences')],
    faults: ['differences'],
  },
  {
    tool: 'kills',
    title: 'Kills on one host',
    says: 'Random SIGKILLs of one process with its journal, effects counted from an outside ledger.',
    columns: [
      sum('runs', 'runs'),
      sum('SIGKILLs', 'kills'),
      sum('lost', 'lost'),
      sum('doubled', 'doubled'),
    ],
    faults: ['lost', 'doubled', 'invented'],
  },
  {
    tool: 'corruption',
    title: 'Corruption',
    says: 'A byte of a journal flipped, or the file cut there: every byte, or the share that is named.',
    columns: [sum('images', 'images'), sum('silent', 'silent')],
    faults: ['silent'],
  },
  {
    tool: 'powerloss',
    title: 'Loss of power',
    says: 'Every image of the files that the calls of a process to its disk could have left.',
    columns: [sum('images', 'images'), sum('violations', 'violations')],
    faults: ['violations'],
  },
];

const HEAD = `# Results

What the tools of [Guarantees](guarantees.md) counted. They wrote these figures themselves (\`--save\`), and
\`npm run proof -- results\` makes this page of them; nothing on it is typed by hand but what came of a
broken leg, and the list of what was found. "And changes" after a commit means that the tree held more than that commit.
Legs that are void, or in which something was broken, are shown, and not added up; seeds and planted bugs that
several legs have looked at count once.
`;

export function renderResults(
  legsOf: (tool: string) => readonly Leg[] = savedLegs,
  found: readonly Found[] = readFound(),
): string {
  const sections = SECTIONS.map((section) => {
    const legs = legsOf(section.tool);
    const { task } = section;
    return renderSection(section, task ? legs.filter((leg) => isTask(leg, task)) : legs);
  });
  return `${[HEAD, ...sections, renderFound(found)].join('\n')}`;
}

function isTask({ command }: Leg, task: string): boolean {
  return command.split(' ').includes(task);
}

function renderSection(section: Section, legs: readonly Leg[]): string {
  const { title, says, columns, tool } = section;
  const head = `## ${title}\n\n${says}\n\n`;
  if (legs.length === 0)
    return `${head}Not run at its full size yet: \`npm run proof -- ${tool}\`.\n`;
  const titles = columns.map((column) => column.title);
  const rows = legs.map((leg) => [
    leg.date,
    `\`${leg.commit}\``,
    `\`${leg.command}\``,
    ...columns.map(({ figure }) => show(read(leg.figures, figure))),
    verdictOf(section, leg),
  ]);
  const passed = legs.filter((leg) => verdictOf(section, leg) === 'passed');
  const total = [
    '**all**',
    '',
    '',
    ...columns.map((column) => `**${combined(column, passed)}**`),
    '',
  ];
  const table = [
    ['date', 'commit', 'command', ...titles, 'verdict'],
    ...rows,
    ...(rows.length > 1 ? [total] : []),
  ];
  const machines = [...new Set(legs.map(({ machine }) => machine))].join('; ');
  const notes = legs.flatMap(({ note, ...leg }, index) =>
    note === undefined ? [] : [`- Leg ${index + 1}, ${verdictOf(section, leg)}: ${note}\n`],
  );
  const told = notes.length > 0 ? `\n${notes.join('')}` : '';
  return `${head}${renderTable(table)}${told}\nMachine: ${machines}.\n`;
}

/** A leg that looked at too little is void, one that lacks a figure proves nothing either. */
function verdictOf({ faults }: Section, { figures }: Leg): 'passed' | 'broken' | 'void' {
  const values = faults.map((fault) => count(read(figures, fault)));
  if (values.some((value) => value !== undefined && value > 0)) return 'broken';
  const missing = read(figures, 'missing') ?? read(figures, 'missed');
  const lacks = Array.isArray(missing) && missing.length > 0;
  const isVoid = figures['void'] === true || lacks || values.includes(undefined);
  return isVoid ? 'void' : 'passed';
}

function renderFound(found: readonly Found[]): string {
  const rows = found.map(({ by, defect, stays }) => [by, defect, stays]);
  const table = renderTable([
    ['found by', 'defect of FleetQ, mended since', 'what stays'],
    ...rows,
  ]);
  return `## What was found\n\n${table}`;
}

function renderTable([head, ...rows]: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |\n`;
  return line(head!) + line(head!.map(() => '---')) + rows.map(line).join('');
}

function combined({ figure, combine }: Column, legs: readonly Leg[]): string {
  const values = legs.map((leg) => read(leg.figures, figure));
  if (combine === 'latest') return show(values.at(-1));
  const distinct = combine === 'sum' ? undefined : combine(legs);
  if (distinct !== undefined) return show(distinct);
  const numbers = values.map((value) => count(value) ?? 0);
  return show(numbers.reduce((total, value) => total + value, 0));
}

function read(figures: unknown, path: string): unknown {
  let value = figures;
  for (const name of path.split('.'))
    value = (value as Record<string, unknown> | undefined)?.[name];
  return value;
}

/** A number, or the sum of one for each store, as some tools have it. */
function count(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return Object.values(value).reduce<number>((sum, part) => sum + Number(part), 0);
}

function show(figure: unknown): string {
  const value = count(figure) ?? figure;
  if (typeof value !== 'number') return value === undefined ? 'not counted' : String(value);
  return (Math.round(value * 100) / 100).toLocaleString('en-US');
}

function readFound(): Found[] {
  return JSON.parse(
    readFileSync(new URL('../../docs/results/found.json', import.meta.url), 'utf8'),
  );
}
