/**
 * A limit that was found out is not kept from the only caller: while no pod wants a call, each may begin one.
 * What is declared or fixed by a person holds as it is. Pure.
 */
import type { Published } from './words.ts';

export function idleShareOf({ isIdle, breaker, found, ceiling, podCount }: Published): number {
  const isBound = found !== undefined || podCount > (ceiling ?? podCount);
  return isIdle && breaker === 'closed' && !isBound ? 1 : 0;
}
