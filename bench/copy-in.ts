/** COPY from a client: the driver has the messages of it, and leaves putting them together to others. */
import type pg from 'pg';

interface Wire {
  query(text: string): void;
  sendCopyFromChunk(chunk: Buffer): void;
  endCopyFrom(): void;
}

/** All that `lines` gives, as one statement. It is made as the server asks for it: small enough to wait. */
export function copyIn(client: pg.Client, text: string, lines: Iterable<string>): Promise<void> {
  return new Promise((resolve, reject) => {
    let failure: Error | undefined;
    const statement = {
      submit: (wire: Wire) => wire.query(text),
      handleCopyInResponse(wire: Wire) {
        for (const line of lines) wire.sendCopyFromChunk(Buffer.from(line));
        wire.endCopyFrom();
      },
      handleError(error: Error) {
        failure = error;
      },
      handleReadyForQuery: () => (failure ? reject(failure) : resolve()),
      handleCommandComplete() {},
      handleRowDescription() {},
      handleDataRow() {},
      handleEmptyQuery() {},
    };
    client.query(statement as never);
  });
}
