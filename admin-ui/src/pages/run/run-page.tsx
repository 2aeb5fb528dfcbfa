/** One run. */
export function RunPage({ id }: { id: string }) {
  return <main>{id}</main>;
}
