/** How many wait, and for what, as a part of a sentence. */
export function waitForOne(count: number): string {
  return count === 1 ? '1 waits for one' : `${count} wait for one`;
}

export function waitTheirTurn(count: number): string {
  return count === 1 ? '1 waits for its turn' : `${count} wait for their turn`;
}
