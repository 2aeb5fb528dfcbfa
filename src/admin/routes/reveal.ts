/**
 * Payloads are masked where tokens are configured. Who has the role to reveal them, and asks to, is
 * shown them, and that leaves a row in the audit log, written before they are shown.
 */
import type { RunId } from '../../ground/index.ts';
import { type Shown, showing } from '../desk/mask.ts';
import { RequestError } from '../problem.ts';
import type { Asked } from '../table.ts';
import { audit } from './audit-note.ts';

export async function revealed(asked: Asked): Promise<Shown> {
  const { desk, door, isRevealing, id } = asked;
  if (!door.isMasked) return showing(false, desk.redacted);
  if (!isRevealing) return showing(true, desk.redacted);
  refuseReveal(asked);
  await audit(asked, 'reveal', id as RunId, { path: asked.request.url?.split('?')[0] });
  return showing(false, desk.redacted);
}

/** Before anything costly is done for it. */
export function refuseReveal({ door, who }: Asked): void {
  if (!door.isMasked || who?.mayReveal) return;
  throw new RequestError(
    403,
    'FLEETQ_FORBIDDEN',
    'to reveal payloads is a role of its own, which this token does not have',
    'make a token with: fleetq token new --reveal',
  );
}
