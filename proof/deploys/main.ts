/**
 * Rolls a fleet to new code and back (roll), and checks `fleetq plan` against a real deploy (plan).
 */
const PROOFS: Readonly<Record<string, () => Promise<unknown>>> = {
  roll: () => import('./roll-main.ts'),
  plan: () => import('./plan-main.ts'),
};

const name = process.argv[2];
const proof = name === undefined ? undefined : PROOFS[name];
// An exit, and not a mere death, so that the server is taken along.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
if (proof) await proof();
else {
  const names = Object.keys(PROOFS).join(', ');
  process.stderr.write(`deploys wants one of ${names}, got ${name ?? 'nothing'}\n`);
  process.exitCode = 2;
}

export {};
