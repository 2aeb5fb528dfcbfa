/** A promise where none is wanted: should it reject, that must not end the process. */
export function hush(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  try {
    if (value instanceof Date) return;
    Promise.resolve(value).catch(() => undefined);
  } catch {
    // Even to look at it may throw; then nobody waits for it.
  }
}
