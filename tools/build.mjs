/**
 * `npm run build`, and what `npm start`, `npm test` and the tools do first: what is older than its source
 * is built, the rest is left. JavaScript, since an older Node has to be able to read what it lacks.
 */
import { readFileSync } from 'node:fs';

const floor = readFileSync(new URL('../src/ground/node-floor.ts', import.meta.url), 'utf8');
// It has no types, and as JavaScript any Node reads it.
const { nodeComplaint } = await import(`data:text/javascript,${encodeURIComponent(floor)}`);

const complaint = nodeComplaint();
if (complaint === undefined) {
  const { buildWhatIsOld } = await import('./build/build.ts');
  process.exitCode = await buildWhatIsOld();
} else {
  process.stderr.write(`${complaint}\n`);
  process.exitCode = 1;
}
