/** A filter that somebody wants to come back to. */
export interface View {
  readonly name: string;
  readonly filter: string;
}
