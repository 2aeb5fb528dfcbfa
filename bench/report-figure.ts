/** A figure as people read it. */
export function shown(value: unknown): string {
  if (value === null || value === undefined) return '–';
  if (typeof value !== 'number') return String(value);
  const digits =
    Math.abs(value) >= 100 || Number.isInteger(value) ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  const [whole, part] = value.toFixed(digits).split('.');
  return whole!.replaceAll(/\B(?=(\d{3})+$)/g, ',') + (part === undefined ? '' : `.${part}`);
}
