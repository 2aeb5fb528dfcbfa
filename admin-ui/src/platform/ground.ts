/** What the grammar of filters needs of src/ground, without what needs Node. See vite.config.ts. */
export { assertNever } from '../../../src/ground/assert.ts';
export { FleetqError, type FleetqErrorOptions, show } from '../../../src/ground/errors.ts';
export { hash } from '../../../src/ground/hash.ts';
export { nearest } from '../../../src/ground/nearest.ts';
export { isoTime } from './clock.ts';
