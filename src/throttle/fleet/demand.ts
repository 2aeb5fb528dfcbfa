/** How many calls at once a pod asks for. Pure. */
const DEMAND_KEPT = 0.6;

export interface Calling {
  readonly inFlight: number;
  readonly waiting: number;
  /** This pod alone cannot reach the API. */
  readonly isCutOff: boolean;
  readonly isLeaving: boolean;
  readonly lastDemand: number;
  readonly share: number;
}

/** So many of those that wait count. */
export function wantingOf({ waiting, isCutOff, isLeaving }: Calling): number {
  if (isLeaving) return 0;
  // Whoever cannot reach the API wants what it has out and one to find out with: others may have the rest.
  return isCutOff ? Math.min(1, waiting) : waiting;
}

export function demandOf(calling: Calling): number {
  const { inFlight, isCutOff, isLeaving, lastDemand, share } = calling;
  if (isLeaving) return 0;
  // It is remembered for a while as far as it could be used: a backlog that is gone holds nothing back.
  const used = Math.min(lastDemand, inFlight + Math.max(1, share));
  const before = isCutOff ? 0 : Math.floor(DEMAND_KEPT * used);
  return Math.max(inFlight + wantingOf(calling), before);
}
