/**
 * The versions of Node that FleetQ runs on: below the first Node reads no TypeScript, and SQLite's binary
 * ends a Node 23 before 23.6, which is past its end anyway. Imports nothing, so that it is asked before
 * anything else is loaded, and has no types, so that the build of a clone can ask it in an older Node.
 */

/** The same as `engines` in package.json. */
export const NODE_RANGE = '^22.18 || >=24';
export const NODE_WANTED = 'Node 22.18 or a newer 22, or 24 or newer';

/** What is wrong with a Node of this version, in one line; undefined where nothing is. */
export function nodeComplaint(version = process.versions.node) {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if ((major === 22 && minor >= 18) || major >= 24) return undefined;
  return `FleetQ needs ${NODE_WANTED}, and this is Node ${version}`;
}

/** For messages: `Node v24.1.0 on linux x64`, or `Bun 1.2.3 on linux x64`. */
export function runtimeName() {
  const { bun, deno } = process.versions;
  const name = bun ? `Bun ${bun}` : deno ? `Deno ${deno}` : `Node ${process.version}`;
  return `${name} on ${process.platform} ${process.arch}`;
}
