/** One request as it is, answered by its status; 0 where nobody answered. */
import { Agent, request } from 'node:http';

const agent = new Agent({ keepAlive: true, maxSockets: 16 });
const ANSWER_MS_MAX = 90_000;

export function rawSend(
  at: string,
  made: {
    readonly method: string;
    readonly path: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string | undefined;
  },
): Promise<number> {
  const [, host = '', port = ''] = /^(.*):(\d+)$/.exec(at) ?? [];
  const { method, path, body } = made;
  const bytes = body === undefined ? undefined : Buffer.from(body);
  const length: Record<string, string> = bytes ? { 'content-length': `${bytes.length}` } : {};
  const type: Record<string, string> = bytes ? { 'content-type': 'application/json' } : {};
  return new Promise((resolve) => {
    try {
      const headers = { ...type, ...made.headers, ...length };
      const sent = request(
        { host, port, method, path, headers, agent, timeout: ANSWER_MS_MAX },
        (answer) => {
          answer.resume().on('end', () => resolve(answer.statusCode ?? 0));
          answer.on('error', () => resolve(answer.statusCode ?? 0));
        },
      );
      sent.on('timeout', () => sent.destroy());
      sent.on('error', () => resolve(0));
      sent.end(bytes);
    } catch {
      // No client sends that: as if it had been refused before it left.
      resolve(400);
    }
  });
}
