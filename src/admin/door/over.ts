/** Whether a session has ended, wherever that was. */
import type { Desk } from '../desk/desk.ts';
import type { Door } from './door.ts';
import type { Session } from './sessions.ts';

export function isOverFor({ shared }: Desk, { sessions }: Door, session: Session) {
  const look = shared && (async (ids: readonly string[]) => (await shared.reader()).noted(ids));
  return async (): Promise<boolean> => (await sessions?.isOver(session, look)) ?? false;
}
