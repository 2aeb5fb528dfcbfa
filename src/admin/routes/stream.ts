/** What happens, as it happens: one stream for everything that a page looks at. */
import * as z from 'zod';
import { HEADERS } from '../answer-headers.ts';
import { showing } from '../desk/mask.ts';
import { viewOfRecord, viewOfTask } from '../desk/views.ts';
import { isOverFor } from '../door/over.ts';
import type { View } from '../live/index.ts';
import { route } from '../table.ts';
import { text } from './shapes.ts';

export const streamRoutes = [
  route({
    method: 'GET',
    path: '/stream',
    role: 'read',
    changes: 'none',
    summary: 'server-sent events of `topics`: runs, pods, run:<id>; goes on after `Last-Event-ID`',
    query: { topics: text(2_000), lastEventId: text(4_000).optional() },
    answers: { status: 200, schema: z.string().describe('text/event-stream') },
    answer: async ({ desk, door, who, query, request, response }) => {
      const header = request.headers['last-event-id'];
      const lastEventId = query.lastEventId ?? (typeof header === 'string' ? header : undefined);
      const view = liveView(showing(door.isMasked, desk.redacted));
      const isOver = who?.session && isOverFor(desk, door, who.session);
      const asked = { topics: query.topics, lastEventId, view, headers: HEADERS, isOver };
      await desk.live.stream(asked, response);
      return undefined;
    },
  }),
];

/** As everywhere else: payloads are masked where they would be. */
export function liveView(shown: ReturnType<typeof showing>): View {
  return {
    record: (record) => viewOfRecord(record, shown),
    task: (task) => viewOfTask(task, shown),
  };
}
