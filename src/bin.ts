#!/usr/bin/env node
/** The command `fleetq`. What a call does not need is not loaded: `--version` answers at once. */
import { readFileSync } from 'node:fs';
import { nodeComplaint } from './ground/node-floor.ts';

const [first, ...rest] = process.argv.slice(2);
const complaint = nodeComplaint();
if (complaint !== undefined) {
  process.stderr.write(`fleetq: ${complaint}\n`);
  process.exitCode = 1;
} else if (rest.length === 0 && (first === '--version' || first === '-V')) {
  const file = new URL('../package.json', import.meta.url);
  const { version } = JSON.parse(readFileSync(file, 'utf8')) as { version: string };
  process.stdout.write(`${version}\n`);
} else {
  const { main } = await import('./cli/main.ts');
  await main(process.argv);
}
