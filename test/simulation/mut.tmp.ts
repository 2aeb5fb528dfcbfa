import { MUTANTS } from './mutants.ts';
import { simulate } from './simulate.ts';
const only = process.argv[2];
for (const mutant of MUTANTS) {
  if (only && mutant.name !== only) continue;
  let caught = '';
  let seed = 1;
  for (; seed <= 25 && !caught; seed++) {
    const r = await simulate(seed, { mutant });
    caught = r.violations[0] ?? '';
  }
  console.log(mutant.name, caught ? `caught at seed ${seed - 1}: ${caught.slice(0, 160)}` : 'NOT CAUGHT');
}
const a = await simulate(3);
const b = await simulate(3);
console.log(a.trace, b.trace, a.trace === b.trace, a.events, b.events);
