/** The same promises where rivals pick different rows instead of skipping locked ones. */
import { describeStore } from './conformance.ts';
import { postgresHarness, usePostgres } from './postgres-harness.ts';
import { describePooled } from './through-pooler.ts';

const CAS = { claimMode: 'cas' } as const;
const scene = usePostgres();

describeStore('postgres (cas)', postgresHarness(scene, CAS));
describePooled('postgres (cas)', scene, CAS);
