/** The table of the matrix in docs/dependencies.md, between its two marks. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../build/parts.ts';

export interface Finding {
  readonly row: string;
  readonly column: string;
  readonly text: string;
}

const PAGE = join(ROOT, 'docs/dependencies.md');
const [BEGIN, END] = ['<!-- install-matrix -->', '<!-- /install-matrix -->'];

export function tableOf(findings: readonly Finding[]): string {
  const columns = [...new Set(findings.map(({ column }) => column))]
    .filter((c) => c !== 'alone')
    .sort();
  const rows = [...new Set(findings.map(({ row }) => row))];
  const cell = (row: string, column: string, isFirst: boolean) =>
    findings.find(
      (each) =>
        each.row === row && (each.column === column || (isFirst && each.column === 'alone')),
    )?.text ?? '';
  const lines = rows.map((row) => [row, ...columns.map((c, index) => cell(row, c, index === 0))]);
  return [['', ...columns], ['', ...columns].map(() => '---'), ...lines]
    .map((line) => `| ${line.join(' | ')} |`)
    .join('\n');
}

export function writeTable(table: string): void {
  const page = readFileSync(PAGE, 'utf8');
  const [from, to] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (from < 0 || to < from)
    throw new Error(`${PAGE} has no place for the table: ${BEGIN} … ${END}`);
  writeFileSync(PAGE, `${page.slice(0, from + BEGIN.length)}\n${table}\n${page.slice(to)}`);
}
