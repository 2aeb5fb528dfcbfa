/** Writes docs/explanation/results.md from what the other tools saved. */
import { writeFileSync } from 'node:fs';
import { renderResults } from './page.ts';

const page = new URL('../../docs/explanation/results.md', import.meta.url);
writeFileSync(page, renderResults());
process.stdout.write('docs/explanation/results.md is written\n');
