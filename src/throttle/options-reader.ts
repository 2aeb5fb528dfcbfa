/** Reads what a throttle was told, one value after the other: says what is wrong with the first that is. */
import { faultOfOptions } from '../config/index.ts';
import { DURATION_WANTED, type Duration, parseDuration, show } from '../ground/index.ts';
import { isWithin } from './answers/outcome.ts';
import { ThrottleOptionsError } from './errors.ts';

type Hint = (name: string, value: unknown) => string | undefined;

export class OptionsReader {
  readonly #name: string;
  constructor(name: string) {
    this.#name = name;
  }

  wrong(option: string, wanted: string, got: unknown): ThrottleOptionsError {
    return new ThrottleOptionsError(this.#name, `${option} must be ${wanted}, got ${show(got)}`);
  }

  /** `hint`: what to say instead of a name that is none, where that is known. */
  keys(
    option: string,
    given: unknown,
    known: readonly string[],
    { wanted = 'an object', hint }: { wanted?: string; hint?: Hint } = {},
  ): void {
    if (typeof given !== 'object' || given === null || Array.isArray(given)) {
      throw this.wrong(option || 'options', wanted, given);
    }
    const fault = faultOfOptions(given, new Set(known));
    if (fault === undefined) return;
    const said = Object.entries(given).find(([name]) => !known.includes(name))!;
    const meant = hint?.(...said);
    const whole = meant === undefined ? fault : fault.replace(/: .*/, `: ${meant}`);
    throw new ThrottleOptionsError(this.#name, `${option || 'it'} ${whole}`);
  }

  positive(option: string, value: number | undefined): number | undefined {
    if (value === undefined || (Number.isFinite(value) && value > 0)) return value;
    throw this.wrong(option, 'a number above 0', value);
  }

  count(option: string, value: number | undefined): number | undefined {
    if (value === undefined || (Number.isSafeInteger(value) && value >= 1 && value <= 1_000_000)) {
      return value;
    }
    throw this.wrong(option, 'a whole number from 1 to 1000000', value);
  }

  share(option: string, value: number | undefined): number | undefined {
    if (value === undefined || isWithin(value, 1)) return value;
    throw this.wrong(option, 'a share from 0 to 1', value);
  }

  /** Of nothing that fails, good calls would be too many. */
  someShare(option: string, value: number | undefined): number | undefined {
    if (value === undefined || (isWithin(value, 1) && value > 0)) return value;
    throw this.wrong(option, 'a share above 0, up to 1', value);
  }

  flag(option: string, value: boolean | undefined): boolean | undefined {
    if (value === undefined || typeof value === 'boolean') return value;
    throw this.wrong(option, 'true or false', value);
  }

  /** A function whose answer is there when it returns. */
  prompt<F>(option: string, value: F): F {
    if (value !== undefined && typeof value !== 'function') {
      throw this.wrong(option, 'a function', value);
    }
    if (Object(value).constructor?.name !== 'AsyncFunction') return value;
    const fault = `${option} must be a function that answers at once, got an async one`;
    throw new ThrottleOptionsError(this.#name, fault);
  }

  duration(option: string, value: Duration | undefined): number | undefined {
    const ms = value === undefined ? undefined : parseDuration(value);
    if (value === undefined || ms !== undefined) return ms;
    throw this.wrong(option, DURATION_WANTED, value);
  }

  oneOf<T extends string>(
    option: string,
    value: T | undefined,
    known: readonly T[],
  ): T | undefined {
    if (value === undefined || known.includes(value)) return value;
    throw this.wrong(option, `one of ${known.join(', ')}`, value);
  }
}
