/** Bulk operations in the shared file: each call one transaction, with a hint where a run was put in. */
import type * as bulks from '../bulk/bulks.ts';
import * as bulk from './bulk.ts';
import type { Hints } from './hints.ts';
import type { Session } from './session.ts';

export class SqliteBulks {
  readonly #session: Session;
  readonly #hints: Hints;

  constructor(session: Session, hints: Hints) {
    this.#session = session;
    this.#hints = hints;
  }

  async begin(given: bulks.NewBulk): Promise<bulks.BulkBegun> {
    return this.#told(await this.#session.write((tx) => bulk.beginBulk(tx, given)));
  }
  take(given: bulks.BulkTaking): Promise<bulks.BulkRow | undefined> {
    return this.#session.write((tx) => bulk.takeBulk(tx, given));
  }
  async save(given: bulks.BulkSave): Promise<bulks.BulkRow | undefined> {
    return this.#told(await this.#session.write((tx) => bulk.saveBulk(tx, given)));
  }
  async order(given: bulks.BulkOrder): Promise<bulks.BulkAnswer> {
    return this.#told(await this.#session.write((tx) => bulk.orderBulk(tx, given)));
  }

  #told<Answer>({ answer, isShiftNew }: bulk.Made<Answer>): Answer {
    if (isShiftNew) this.#hints.give('ready');
    return answer;
  }
}
