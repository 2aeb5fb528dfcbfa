/**
 * Names and texts of one world in the other. Snowflake makes unquoted names upper case and Postgres
 * lower case, so a quoted "Name" becomes "nAME", and each name of one has exactly one in the other.
 */
import type { Token } from './tokens.ts';

export function literal(text: string): string {
  const escaped = text.replaceAll('\\', '\\\\').replaceAll("'", "''");
  return text.includes('\\') ? `E'${escaped}'` : `'${escaped}'`;
}

export function swapCase(name: string): string {
  return [...name]
    .map((one) => (one === one.toUpperCase() ? one.toLowerCase() : one.toUpperCase()))
    .join('');
}

export function nameOf(token: Token): string {
  return token.kind === 'quoted'
    ? `"${swapCase(token.text).replaceAll('"', '""')}"`
    : token.text.toLowerCase();
}
