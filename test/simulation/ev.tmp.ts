import { simulate } from './simulate.ts';
for (let seed = 1; seed <= 12; seed++) {
  const c = process.cpuUsage();
  const r = await simulate(seed);
  const u = process.cpuUsage(c);
  console.log(seed, r.pods, r.tasks, r.events, (r.virtualMs/1000).toFixed(0), 's', ((u.user+u.system)/1000).toFixed(0), 'ms cpu', r.violations[0] ?? '');
}
