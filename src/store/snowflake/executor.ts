/** What the store needs of a connection to an account, whoever gives it: the driver, or a test. */

export type Bind = string | number | boolean | null;
export type Row = Readonly<Record<string, unknown>>;

export interface Answer {
  /** Under the names of their columns, in lower case. */
  readonly rows: readonly Row[];
  /** How many rows a statement has written. */
  readonly count: number;
}

/** One session: what it has written it sees at once, and its transactions are its own. */
export interface Session {
  /** Under the id of an earlier request it is that request again, and done no second time. */
  execute(text: string, binds: readonly Bind[], requestId?: string): Promise<Answer>;
  /** Ends it, whatever it is doing; nothing is answered any more. */
  close(): Promise<void>;
}

/** Opens a session with its parameters set; it is used by one call at a time. */
export type OpenSession = () => Promise<Session>;
