/** `npm run dashboards`: writes the dashboards beside this directory. */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { DASHBOARDS, textOf } from './dashboards.ts';

for (const [file, dashboard] of Object.entries(DASHBOARDS)) {
  const path = fileURLToPath(new URL(`../${file}`, import.meta.url));
  writeFileSync(path, textOf(dashboard));
  process.stdout.write(`${path}: ${dashboard.panels.length} panels\n`);
}
