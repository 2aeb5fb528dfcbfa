/** What src/ground asks of node:util. */
export const types = {
  isNativeError: (value: unknown): value is Error =>
    Object.prototype.toString.call(value) === '[object Error]',
};
