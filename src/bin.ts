#!/usr/bin/env node
/** The command `fleetq`. What a call does not need is not loaded: `--version` answers at once. */
import { readFileSync } from 'node:fs';

const [first, ...rest] = process.argv.slice(2);
if (rest.length === 0 && (first === '--version' || first === '-V')) {
  const file = new URL('../package.json', import.meta.url);
  const { version } = JSON.parse(readFileSync(file, 'utf8')) as { version: string };
  process.stdout.write(`${version}\n`);
} else {
  const { main } = await import('./cli/main.ts');
  await main(process.argv);
}
