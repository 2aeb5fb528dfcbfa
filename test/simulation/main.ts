/**
 * npm run simulate -- [--seeds N] [--from S] [--seed N] [--json]: simulates many seeds, those that once
 * failed first, or tells the story of one. Ends with 1 where a promise was broken.
 */
import { parseArgs } from 'node:util';
import { keptSeeds } from './kept-seeds.ts';
import { MUTANTS } from './mutants.ts';
import { type SeedReport, simulate } from './simulate.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '200' },
    from: { type: 'string', default: '1' },
    seed: { type: 'string' },
    mutant: { type: 'string' },
    json: { type: 'boolean' },
  },
});

function whole(name: string, text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new TypeError(`--${name} wants a whole number, got ${text}`);
}

const mutant = MUTANTS.find(({ name }) => name === values.mutant);
if (values.mutant !== undefined && !mutant) {
  const names = MUTANTS.map(({ name }) => name).join(', ');
  throw new TypeError(`--mutant wants one of: ${names}`);
}

if (values.seed !== undefined) {
  const seed = whole('seed', values.seed);
  const onLine = (line: string) => process.stdout.write(`${line}\n`);
  const report = await simulate(seed, { mutant, onLine });
  const { tasks, pods, events, virtualMs, trace, counts } = report;
  onLine(`seed ${seed}: ${pods} pods, ${tasks} tasks, ${events} events in ${virtualMs | 0} ms`);
  onLine(`trace ${trace}; ${JSON.stringify(counts)}`);
  for (const violation of report.violations) onLine(`VIOLATION ${violation}`);
  process.exitCode = report.violations.length > 0 ? 1 : 0;
} else {
  const from = whole('from', values.from);
  const fresh = Array.from({ length: whole('seeds', values.seeds) }, (_, index) => from + index);
  const begun = performance.now();
  const failed: SeedReport[] = [];
  const counts: Record<string, number> = {};
  let [done, virtualMs, tasks] = [0, 0, 0];
  for (const seed of new Set([...keptSeeds(), ...fresh])) {
    const report = await simulate(seed, { mutant });
    done += 1;
    virtualMs += report.virtualMs;
    tasks += report.tasks;
    for (const [name, count] of Object.entries(report.counts)) {
      counts[name] = (counts[name] ?? 0) + count;
    }
    if (report.violations.length === 0) continue;
    failed.push(report);
    process.stderr.write(`seed ${seed}: ${report.violations[0]}\n`);
  }
  const seconds = Math.round((performance.now() - begun) / 100) / 10;
  const summary = {
    seeds: done,
    violations: failed.length,
    virtualHours: Math.round((virtualMs / 3_600_000) * 100) / 100,
    tasks,
    seconds,
    failedSeeds: failed.map(({ seed }) => seed),
    counts,
  };
  const lines = Object.entries(summary).map(
    ([name, value]) =>
      `${name.padEnd(14)} ${typeof value === 'object' ? JSON.stringify(value) : value}`,
  );
  process.stdout.write(values.json ? `${JSON.stringify(summary)}\n` : `${lines.join('\n')}\n`);
  process.exitCode = failed.length > 0 ? 1 : 0;
}
