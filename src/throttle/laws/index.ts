/** The laws by their names. */
import { AimdLaw } from './aimd.ts';
import { GradientLaw } from './gradient.ts';
import { HybridLaw } from './hybrid.ts';
import type { Law, LawBounds, LawName } from './law.ts';
import { TokenBucketLaw } from './token-bucket.ts';

export { AimdLaw } from './aimd.ts';
export { GradientLaw } from './gradient.ts';
export { HybridLaw } from './hybrid.ts';
export {
  LAW_NAMES,
  type Law,
  type LawBounds,
  type LawName,
  type PaceRule,
  type Sample,
} from './law.ts';
export { TokenBucketLaw } from './token-bucket.ts';

export const LAWS: Readonly<Record<LawName, (bounds: LawBounds) => Law>> = {
  hybrid: ({ start, mayBrake, isAdaptive }) =>
    new HybridLaw(start, { mayBrake, mayPace: isAdaptive }),
  aimd: (bounds) => new AimdLaw(bounds),
  'aimd-latency': (bounds) => new AimdLaw(bounds, { heedsLatency: true }),
  gradient: (bounds) => new GradientLaw(bounds),
  'token-bucket': (bounds) => new TokenBucketLaw(bounds),
};
