/**
 * npm run proof: one entry to the tools that prove the promises. A tool is a folder here with a main.ts,
 * whose first sentence says what it does; the tool reads the rest of the command line itself. A folder that has
 * tests alone is a tool too, which vitest runs.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const mainOf = (name: string) => `${HERE}${name}/main.ts`;
/** Machines know FleetQ by its name, which leads to what was built: here to the source, or there would be two. */
const SOURCE = new URL('../src/index.ts', import.meta.url).href;
registerHooks({
  resolve: (name, context, next) =>
    name === 'fleetq' ? { url: SOURCE, shortCircuit: true } : next(name, context),
});
const TOOLS = readdirSync(HERE).filter((name) => !name.endsWith('.ts'));

function testsOf(name: string): string[] {
  const files = readdirSync(`${HERE}${name}`).filter((file) => file.endsWith('.proof.test.ts'));
  return files.map((file) => `${HERE}${name}/${file}`);
}

/** That of a folder's own name says what it is for, before its others. */
function headerFileOf(name: string): string {
  const own = [mainOf(name), `${HERE}${name}/${name}.proof.test.ts`];
  return [...own, ...testsOf(name)].find((file) => existsSync(file))!;
}

const HELP = `npm run proof -- NAME [flags]   runs one of the tools; --help shows its flags
npm run proof -- list           the tools
`;

function describe(name: string): string {
  const header = /^\/\*\*(.*?)\*\//s.exec(readFileSync(headerFileOf(name), 'utf8'))?.[1] ?? '';
  return header.replaceAll(/\s*\n \*\s*/g, ' ').trim();
}

function runTests(name: string, flags: readonly string[]): number {
  const vitest = fileURLToPath(new URL('../node_modules/vitest/vitest.mjs', import.meta.url));
  const args = [vitest, 'run', '--project', 'proof', ...testsOf(name), ...flags];
  const { status } = spawnSync(process.execPath, args, { cwd: `${HERE}..`, stdio: 'inherit' });
  return status ?? 1;
}

const name = process.argv[2];
if (name === undefined || name === '--help') process.stdout.write(HELP);
else if (name === 'list') {
  const width = Math.max(...TOOLS.map((tool) => tool.length)) + 2;
  for (const tool of TOOLS) process.stdout.write(`${tool.padEnd(width)}${describe(tool)}\n`);
} else if (TOOLS.includes(name)) {
  process.argv.splice(2, 1);
  if (existsSync(mainOf(name))) await import(mainOf(name));
  else process.exitCode = runTests(name, process.argv.slice(2));
} else {
  process.stderr.write(
    `there is no proof ${JSON.stringify(name)}; there are: ${TOOLS.join(', ')}\n`,
  );
  process.exitCode = 2;
}
