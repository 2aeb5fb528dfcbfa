/** FleetQ's own version, from its package.json. */
import { readFileSync } from 'node:fs';

export function version(): string {
  try {
    const file = new URL('../../package.json', import.meta.url);
    return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
  } catch {
    // In a program that was bundled into one file there is no such package beside it.
    return 'unknown';
  }
}
