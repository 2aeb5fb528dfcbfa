/** A worker does not inherit the loader of its parent on every Node version: it is registered here. */
import { register } from 'tsx/esm/api';

register();
await import('./worker.ts');
