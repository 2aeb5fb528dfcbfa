/** Who is told in the audit log. */
import { userInfo } from 'node:os';
import { expect, test } from 'vitest';
import { whoami } from '../../src/cli/fleet/acting.ts';

test('the log names who it is, and not who the environment says it is', () => {
  expect(whoami({ USER: 'ceo' }).split('@')[0]).toBe(userInfo().username);
});
