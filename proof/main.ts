/**
 * npm run proof: one entry to the tools that prove the promises. A tool is a folder here with a main.ts,
 * whose first sentence says what it does; the tool reads the rest of the command line itself.
 */
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
const TOOLS = readdirSync(HERE).filter((name) => existsSync(mainOf(name)));

const HELP = `npm run proof -- NAME [flags]   runs one of the tools; --help shows its flags
npm run proof -- list           the tools
`;

function describe(name: string): string {
  const header = /^\/\*\*(.*?)\*\//s.exec(readFileSync(mainOf(name), 'utf8'))?.[1] ?? '';
  return header.replaceAll(/\s*\n \*\s*/g, ' ').trim();
}

const name = process.argv[2];
if (name === undefined || name === '--help') process.stdout.write(HELP);
else if (name === 'list') {
  const width = Math.max(...TOOLS.map((tool) => tool.length)) + 2;
  for (const tool of TOOLS) process.stdout.write(`${tool.padEnd(width)}${describe(tool)}\n`);
} else if (TOOLS.includes(name)) {
  process.argv.splice(2, 1);
  await import(mainOf(name));
} else {
  process.stderr.write(
    `there is no proof ${JSON.stringify(name)}; there are: ${TOOLS.join(', ')}\n`,
  );
  process.exitCode = 2;
}
