/** Calls `after` once the call has answered, whatever it answered. */
export function ended<T>(call: () => T, after: () => void): T {
  let answer: T;
  try {
    answer = call();
  } catch (error) {
    after();
    throw error;
  }
  if (!(answer instanceof Promise)) {
    after();
    return answer;
  }
  return answer.finally(after) as T;
}
