/** Random, but the same every time: FLEETQ_TEST_SEED tries another one, and failures name theirs. */
export const SEED = Number(process.env['FLEETQ_TEST_SEED'] ?? 20_261_115);

/** Parameters for `fc.assert`. */
export function seeded(numRuns: number): { seed: number; numRuns: number } {
  return { seed: SEED, numRuns };
}
