/** What an API may be called: checked wherever a name comes in, be it from code or from a person. */
const NAME_LENGTH_MAX = 200;

/** To be said to whoever gave another one. */
export const API_NAME = `text of 1 to ${NAME_LENGTH_MAX} characters that any store and terminal takes`;

/** It goes into rows, labels and logs: one that no store takes would keep a pod from being heard at all. */
export function isApiName(name: unknown): name is string {
  if (typeof name !== 'string' || name === '' || name.length > NAME_LENGTH_MAX) return false;
  return !/[\p{Cc}\p{Surrogate}]/u.test(name);
}
