/** npm run pack [-- --to <directory>]: writes the package that users install, and says how large it is. */
import { parseArgs } from 'node:util';
import { pack } from './tarball.ts';

const { values } = parseArgs({ options: { to: { type: 'string', default: '.' } } });
const { file, bytes, unpackedBytes, files } = pack(values);
const megabytes = (count: number) => `${(count / 1e6).toFixed(1)} MB`;
process.stdout.write(
  `${file}: ${megabytes(bytes)}, ${megabytes(unpackedBytes)} unpacked, ${files.length} files\n`,
);
