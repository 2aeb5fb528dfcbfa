export { DEFAULTS } from './defaults.ts';
