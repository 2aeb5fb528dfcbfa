/** Reads numbers that are wanted, and remembers whether one was not there. */
export class Numbers {
  readonly #json: Readonly<Record<string, unknown>>;
  isWhole = true;

  constructor(json: unknown) {
    if (typeof json !== 'object' || json === null) this.isWhole = false;
    this.#json = (this.isWhole ? json : {}) as Readonly<Record<string, unknown>>;
  }

  of(key: string): number {
    return this.maybe(key) ?? this.#missing();
  }

  maybe(key: string): number | undefined {
    const value = this.#json[key];
    return isCount(value) ? value : undefined;
  }

  has(key: string): boolean {
    return this.#json[key] !== undefined;
  }

  text(key: string): string | undefined {
    const value = this.#json[key];
    return typeof value === 'string' ? value : undefined;
  }

  is(key: string): boolean {
    return this.#json[key] === true;
  }

  rows(key: string, width: number, countMax: number, isOne = false): number[][] {
    const value = isOne ? [this.#json[key]] : this.#json[key];
    if (Array.isArray(value) && value.length <= countMax && areRows(value, width)) return value;
    this.#missing();
    return [];
  }

  #missing(): number {
    this.isWhole = false;
    return 0;
  }
}

function areRows(values: readonly unknown[], width: number): boolean {
  for (const value of values) if (!isRow(value, width)) return false;
  return true;
}

function isRow(value: unknown, width: number): boolean {
  if (!Array.isArray(value) || value.length !== width) return false;
  for (let at = 0; at < width; at++) if (!isCount(value[at])) return false;
  return true;
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 && value <= 1e15;
}
