/**
 * npm run install-matrix: packs FleetQ and installs it as new users do, each package manager on each Node,
 * where there is no compiler, no Python and no shell: once for the first time, once from the lock file that
 * this has written. What was installed runs the programs of the README and `fleetq dev`.
 *
 *   --cells <name,…>   these alone; --list has their names
 *   --ci               those that every change is tried with
 *   --write            writes the table of docs/dependencies.md: of all cells
 *   --keep             leaves the directories of cells that failed
 */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { pack } from '../tarball.ts';
import { CELLS, type Cell, CI } from './cells.ts';
import { type Finding, tableOf, writeTable } from './page.ts';
import { forget } from './place.ts';

const { values: flags } = parseArgs({
  options: {
    cells: { type: 'string' },
    ci: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
    keep: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
  },
});
const say = (line: string) => process.stdout.write(`${line}\n`);

function chosen(): readonly Cell[] {
  const names = flags.cells?.split(',') ?? (flags.ci ? CI : CELLS.map(({ name }) => name));
  return names.map((name) => {
    const cell = CELLS.find((each) => each.name === name);
    if (!cell) throw new Error(`there is no cell ${name}: ask with --list`);
    return cell;
  });
}

async function tryCell(cell: Cell, tarball: string): Promise<Finding & { isFit: boolean }> {
  const home = mkdtempSync(join(tmpdir(), 'fleetq-install-'));
  const { row, column, isPlanted = false } = cell;
  const [isFound, text] = await cell.attempt(home, tarball).then(
    (measured) => [true, measured] as const,
    (error: Error) => [false, error.message] as const,
  );
  const isFit = isFound !== isPlanted;
  if (isFit || !flags.keep) forget(home);
  const [first] = text.split('\n');
  say(`${isFit ? 'ok  ' : 'FAIL'} ${cell.name}: ${isFit ? first : `${text}\n(${home})`}`);
  return { row, column, isFit, text: isPlanted ? 'noticed' : text };
}

if (flags.list) for (const { name } of CELLS) say(name);
else {
  const cells = chosen();
  const home = mkdtempSync(join(tmpdir(), 'fleetq-packed-'));
  const { file } = pack({ to: home });
  const findings = [];
  for (const cell of cells) findings.push(await tryCell(cell, file));
  forget(home);
  const failed = findings.filter(({ isFit }) => !isFit).length;
  if (flags.write && failed === 0) writeTable(tableOf(findings));
  say(
    `\n${failed === 0 ? 'all' : findings.length - failed} of ${findings.length} as they have to be`,
  );
  process.exitCode = failed === 0 ? 0 : 1;
}
