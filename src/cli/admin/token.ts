/** fleetq token new --name alice --role operate: a secret, shown once, and what the config has of it. */
import { hashOfSecret, newSecret } from '../../admin/index.ts';
import { ROLES, type Role, showGrant } from '../../config/index.ts';
import { show, systemRandom } from '../../ground/index.ts';
import type { Execute } from '../command.ts';
import { UsageError } from '../errors.ts';
import { Exit } from '../exit.ts';

export const newToken: Execute = async ({ output }, options) => {
  const name = options['name'];
  const role = options['role'] ?? 'read';
  if (typeof name !== 'string' || !/^[\w.@-]{1,100}$/.test(name)) {
    throw new UsageError(
      `--name must be 1 to 100 letters, digits and . _ @ -, got ${show(name ?? '')}`,
    );
  }
  if (!ROLES.includes(role as Role)) {
    throw new UsageError(`--role must be one of ${ROLES.join(', ')}, got ${show(role)}`);
  }
  const secret = newSecret(systemRandom);
  const mayReveal = options['reveal'] === true;
  const grant = showGrant({ name, role: role as Role, mayReveal, hash: hashOfSecret(secret) });
  if (output.isJson) {
    output.json({ secret, grant });
    return Exit.ok;
  }
  output.note('the secret, which is shown this once and kept nowhere:');
  output.line(secret);
  output.note('for `tokens` in the config, or FLEETQ_TOKENS (with commas between several):');
  output.line(grant);
  return Exit.ok;
};
