/** What streams of a fleet tell from: its journal as it is written, and the store it shares. */
import type { Sources } from './admin/index.ts';
import type { Parts } from './assemble.ts';

export function liveSources({ journal, inspector, member }: Parts): Sources {
  return {
    local: {
      journal: journal.id,
      pod: () => member?.pod.life?.id,
      find: (run) => {
        const row = journal.find(run);
        return row && { generation: row.generation, hasEnded: row.ending !== undefined };
      },
      page: (run, afterSeq, bytesMax) => inspector.page(run, afterSeq, bytesMax),
      lastSeq: (run) => inspector.lastSeq(run),
    },
    store: member && (async () => member.store),
    decode: (run, rows, after) => journal.decode(run, rows, after),
  };
}
