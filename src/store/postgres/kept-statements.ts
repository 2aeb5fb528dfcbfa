/** Names of the statements that connections keep. */
const names = new Map<string, string>();
/** Each connection of a server has room for so many. */
const NAME_COUNT_MAX = 100;

/** The same for the same text, on every connection. */
export function nameOf(text: string): string | undefined {
  const known = names.get(text);
  if (known !== undefined || names.size >= NAME_COUNT_MAX) return known;
  const name = `fleetq_${names.size}`;
  names.set(text, name);
  return name;
}
