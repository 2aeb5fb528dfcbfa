/** The same promises where rivals pick different rows instead of skipping locked ones. */
import { describeStore } from './conformance.ts';
import { postgresHarness, usePostgres } from './postgres-harness.ts';

describeStore('postgres (cas)', postgresHarness(usePostgres(), { claimMode: 'cas' }));
