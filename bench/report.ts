/** npm run bench -- report: writes docs/benchmarks.md and its pictures from the figures that were saved. */
import { writeFileSync } from 'node:fs';
import { shown } from './report-figure.ts';
import { peersOf, picturesOf } from './report-peers.ts';
import { REPORTED, type Reported } from './report-text.ts';
import { type Saved, savedBenches } from './saved.ts';

const DOCS = new URL('../docs/', import.meta.url);

export function writeReport(): object {
  const saved = savedBenches();
  const peers = saved['peers'];
  const reported = REPORTED.filter(({ name }) => saved[name] !== undefined);
  const parts = [
    OPENING,
    ...(peers ? [peersOf(peers)] : []),
    '## How costs grow',
    GROWTH,
    ...reported.map((part) => growthOf(part, saved[part.name]!)),
    FASTER,
  ];
  writeFileSync(new URL('benchmarks.md', DOCS), `${parts.join('\n\n')}\n`);
  const pictures = peers ? picturesOf(peers) : {};
  for (const [file, text] of Object.entries(pictures)) {
    writeFileSync(new URL(`images/${file}`, DOCS), text);
  }
  return { written: ['docs/benchmarks.md', ...Object.keys(pictures)], missing: missingOf(saved) };
}

function missingOf(saved: Record<string, Saved>): string[] {
  return ['peers', ...REPORTED.map(({ name }) => name)].filter((name) => !saved[name]);
}

const OPENING = `# Benchmarks

\`\`\`text
npm run bench -- peers --full            # FleetQ and its peers, the same jobs, in rounds that take turns
npm run bench -- growth queues --full    # how one cost grows; a wrong name prints all of them
npm run bench -- report                  # writes this page from what was run with --save
\`\`\`

Everything runs on one machine: pods, clients and Postgres share its cores, so absolute figures say little about yours. Ratios within one
run, and counts of rows, pages, statements and bytes, carry over. Postgres has \`fsync\` and \`synchronous_commit\` on, and FleetQ archives
every record (\`archive: full\`, the default).`;

const GROWTH = `Each table shows what one thing costs as there is more of it. What grows in proportion is fine; what grows faster is a defect, and the
last section lists what is left of those.`;

const FASTER = `## What still grows faster than the load

- **A transaction that is never closed**, in any database of the server: claims no longer read what was taken since, but the tables and
  their indexes grow for as long as it lasts, and each heartbeat counts what its pod holds over entries that cannot be removed.
  \`fleetq doctor --store\`, a metric and an alert name the transaction.
- **Waiting for many results in one process**: each look asks for all results that are waited for, so a result costs more rows the more
  there are (3 rows each at 100 that wait, 5.5 at 30,000).
- **Queues with limits**: a claim holds the limits of all of them, a thousand at a time, and looks at each queue that has room, at each
  priority.
- **Ended tasks that must stay** (forked, followed, not sent by a sink): each batch of retention walks past them again.
- **\`/api/v1/pods?all=true\`** reads all rows of pods that ever were within the retention.`;

function growthOf({ title, says, columns }: Reported, saved: Saved): string {
  const rows = saved.figures['rows'] as readonly Row[];
  const head = `| ${columns.map(([name]) => name).join(' | ')} |`;
  const rule = `|${'---|'.repeat(columns.length)}`;
  const body = rows.map(
    (row) => `| ${columns.map(([, of]) => shown(figureAt(row, of))).join(' | ')} |`,
  );
  const taken = `<sub>\`${saved.command}\`, ${saved.date}, ${saved.commit}, ${saved.machine}</sub>`;
  return [`### ${title}`, says, [head, rule, ...body].join('\n'), taken].join('\n\n');
}

type Row = Readonly<Record<string, unknown>>;

/** By a path of names, or of two of them that belong together. */
function figureAt(row: Row, of: string): unknown {
  if (of.includes(' / '))
    return of
      .split(' / ')
      .map((part) => shown(figureAt(row, part)))
      .join(' / ');
  return of.split('.').reduce<unknown>((value, name) => (value as Row | undefined)?.[name], row);
}
