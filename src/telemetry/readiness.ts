/** Whether a pod is ready: what /readyz answers, what `fleetq_pod_ready` shows. */

/** The part of a fleet's status that this goes by. */
export interface Standing {
  readonly stalledBy: string | undefined;
  readonly pod: { readonly isReady: boolean } | undefined;
}

/** Ready: the tables fit, predecessors are adopted, runs are resumed, and the disk takes records. */
export function whyNotReady({ stalledBy, pod }: Standing): string | undefined {
  if (stalledBy !== undefined) return 'the journal cannot be written';
  return pod && !pod.isReady ? 'the pod has not taken its place' : undefined;
}
