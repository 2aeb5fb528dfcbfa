/** Who is told in the audit log. */
import { userInfo } from 'node:os';
import { afterEach, expect, test, vi } from 'vitest';
import { whoami } from '../../src/cli/fleet/acting.ts';

afterEach(() => vi.unstubAllEnvs());

test('the log names who it is, and not who the environment says it is', () => {
  vi.stubEnv('USER', 'ceo');
  expect(whoami().split('@')[0]).toBe(userInfo().username);
});
