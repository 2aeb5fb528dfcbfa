/** Imported first by everything that others import: throws where Node is too old for what comes next. */
import { nodeComplaint } from './node-floor.ts';

const complaint = nodeComplaint();
if (complaint !== undefined) {
  throw Object.assign(new Error(complaint), { code: 'FLEETQ_NODE_TOO_OLD' });
}
