/**
 * The oldest Node that FleetQ runs on: below it Node reads no TypeScript, and SQLite's binary ends the
 * process. Imports nothing, so that it is asked before anything else is loaded.
 */

/** The same as `engines` in package.json. */
export const NODE_FLOOR = '22.18';

/** What is wrong with a Node of this version, in one line; undefined where nothing is. */
export function nodeComplaint(version: string = process.versions.node): string | undefined {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [majorMin = 0, minorMin = 0] = NODE_FLOOR.split('.').map(Number);
  if (major > majorMin || (major === majorMin && minor >= minorMin)) return undefined;
  return `FleetQ needs Node ${NODE_FLOOR} or newer, and this is Node ${version}`;
}

/** For messages: `Node v24.1.0 on linux x64`, or `Bun 1.2.3 on linux x64`. */
export function runtimeName(): string {
  const { bun, deno } = process.versions as Readonly<Record<string, string | undefined>>;
  const name = bun ? `Bun ${bun}` : deno ? `Deno ${deno}` : `Node ${process.version}`;
  return `${name} on ${process.platform} ${process.arch}`;
}
