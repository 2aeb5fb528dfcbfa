/** The machines by which a leader looks after its fleet. Their runs never wait behind those of users. */
const CHORES = ['recovery/sweep', 'recovery/reconcile', 'recovery/retention'] as const;

export type Chore = (typeof CHORES)[number];

export function isChore(machine: string): boolean {
  return (CHORES as readonly string[]).includes(machine);
}
