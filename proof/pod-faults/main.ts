/**
 * Gives pods faults of their own (bad pages, full disks, full slots, cloned volumes, refused registrations) and
 * judges what becomes of their fleets: real processes, a real Postgres, SIGKILL.
 */
import { misused, readFlags, wholeFlag } from '../../test/support/tool.ts';
import { CASES, type Case, playRounds, type Round } from './pod-faults.ts';

const NAMES = Object.keys(CASES) as Case[];
const HELP = `npm run proof -- pod-faults [options]

Each case makes a fleet, gives one of its pods a fault of its own, and prints what was promised beside what was
seen. Ends with 1 where a promise is broken. Wants root for volumes and full disks, and dist: npm run build.

  --only A,B   these cases alone, of ${NAMES.join(', ')}
  --rounds N   how often each is played (3)
  --tasks N    tasks of damaged-page (3000)
  --seconds N  how long registrations are refused, and clones watched (65)
  --json       every round as one JSON object, the last line of stdout
`;

const { values } = readFlags(
  {
    options: {
      only: { type: 'string' },
      rounds: { type: 'string', default: '3' },
      tasks: { type: 'string', default: '3000' },
      seconds: { type: 'string', default: '65' },
      json: { type: 'boolean' },
    },
  },
  HELP,
);

function casesOf(only: string | undefined): Case[] {
  if (only === undefined) return NAMES;
  const wanted = only.split(',');
  const unknown = wanted.find((name) => !NAMES.includes(name as Case));
  if (unknown === undefined) return wanted as Case[];
  return misused(`there is no case ${JSON.stringify(unknown)}; there are: ${NAMES.join(', ')}`);
}

function asTable({ case: name, round, seconds, promised, isGood }: Round): string {
  const rows = promised.map(({ what, wanted, seen, isKept }) => [
    isKept ? 'kept' : 'BROKEN',
    what,
    wanted,
    `${seen}`,
  ]);
  const widths = [0, 1, 2].map((at) => Math.max(...rows.map((row) => row[at]!.length)));
  const lines = rows.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  const title = `${name}, round ${round}: ${isGood ? 'kept' : 'BROKEN'}, ${seconds} s`;
  return `${title}\n${lines.map((line) => `  ${line}\n`).join('')}\n`;
}

// Each pod and each volume is ended when this process ends early.
process.setMaxListeners(50);
const seconds = wholeFlag('seconds', values.seconds, 5);
const played = await playRounds({
  cases: casesOf(values.only),
  rounds: wholeFlag('rounds', values.rounds, 1),
  sizes: {
    tasks: wholeFlag('tasks', values.tasks, 100),
    refusedMs: seconds * 1_000,
    cloneMs: seconds * 1_000,
  },
  onRound: (round) => process.stdout.write(asTable(round)),
});
if (values.json) process.stdout.write(`${JSON.stringify({ rounds: played })}\n`);
process.exitCode = played.every(({ isGood }) => isGood) ? 0 : 1;
