/** The texts that a store has sent, judged once the suite is over: few, always the same, and sound. */
import { expect, test } from 'vitest';
import {
  knownMigrations,
  statementsIn,
  type TableKind,
} from '../../src/store/snowflake/migrate.ts';
import { lint } from '../emulator/snowflake/lint.ts';
import type { SnowflakeScene } from './snowflake-harness.ts';

/** Of all verbs together, with lists of a few lengths: a value spelt into a text would make far more. */
const TEXTS_MAX = 250;

export function testTexts(scene: SnowflakeScene, kind: TableKind): void {
  test('every text that was sent is Snowflake, and they are few', async () => {
    const texts = [...scene.account.statements.byText.keys()];
    expect(texts.length).toBeLessThan(TEXTS_MAX);
    const made = knownMigrations(kind).flatMap(({ sql }) => statementsIn(sql));
    for (const text of [...made, ...texts]) {
      expect({ text, faults: await lint(text) }).toEqual({ text, faults: [] });
    }
  });
}
