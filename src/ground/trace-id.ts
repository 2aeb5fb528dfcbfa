/** The trace of a run has the run's own 128 bits: any process knows it, after any crash. */
const DIGITS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** As 32 hexadecimal digits, of a ULID or a UUID; undefined for what is neither. */
export function traceIdOf(run: string): string | undefined {
  if (run.length === 36) {
    const hex = run.replaceAll('-', '');
    return /^[0-9a-f]{32}$/.test(hex) ? hex : undefined;
  }
  if (run.length !== 26) return undefined;
  // Ten digits of time and sixteen of chance; 26 digits of five bits each are two bits more than 128.
  let hex = '';
  let bits = 0;
  let held = 0;
  for (let index = 0; index < 26; index++) {
    const digit = DIGITS.indexOf(run[index]!);
    if (digit < 0 || (index === 0 && digit > 7)) return undefined;
    bits = (bits << 5) | digit;
    // Of the first digit three bits count.
    held += index === 0 ? 3 : 5;
    while (held >= 4) {
      held -= 4;
      hex += ((bits >> held) & 15).toString(16);
      bits &= (1 << held) - 1;
    }
  }
  return hex;
}
