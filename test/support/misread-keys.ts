/**
 * Node 24 and 26 read some JSON wrongly (nodejs/node#63785): an object key that is one escaped character, as
 * in {"\n": 1}, may come back as another one. Properties over random JSON leave such keys out there.
 */
function isMisreading(): boolean {
  JSON.parse('{"h":[],"\\\\":0}');
  return Object.keys(JSON.parse('{"h":1,"\\"":2}'))[1] !== '"';
}

const ONE_ESCAPED_CHARACTER = /[{,]"\\(u[0-9a-f]{4}|[^u])":/;
const misreads = isMisreading();

/** For `filter` of a property: whether this runtime reads the value as it was written. */
export function isReadRight(value: unknown): boolean {
  return !misreads || !ONE_ESCAPED_CHARACTER.test(JSON.stringify(value) ?? '');
}
