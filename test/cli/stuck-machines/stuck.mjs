/** A machine whose phase never ends. */
import { defineMachine } from 'fleetq';
import * as z from 'zod';

export const stuck = defineMachine({
  name: 'test/stuck',
  version: 1,
  input: z.null(),
  check: 'none',
  work: () => new Promise(() => undefined),
});
