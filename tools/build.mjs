/**
 * `npm run build`, and what `npm start`, `npm test` and the tools do first: what is older than its source
 * is built, the rest is left. JavaScript, since an older Node has to be able to read what it lacks.
 */
import { readFileSync } from 'node:fs';

const { engines } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
const floor = engines.node.replace('>=', '');
const [majorMin, minorMin] = floor.split('.').map(Number);
const [major, minor] = process.versions.node.split('.').map(Number);

if (major > majorMin || (major === majorMin && minor >= minorMin)) {
  const { buildWhatIsOld } = await import('./build/build.ts');
  process.exitCode = await buildWhatIsOld();
} else {
  process.stderr.write(
    `FleetQ needs Node ${floor} or newer, and this is Node ${process.versions.node}\n`,
  );
  process.exitCode = 1;
}
