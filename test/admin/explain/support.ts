/** A task explained, as the API and the command do it. */
import { expect } from 'vitest';
import { showing } from '../../../src/admin/desk/mask.ts';
import { CODES, explain, type Finding, gatherTask } from '../../../src/admin/explain/index.ts';
import type { MachineInfo } from '../../../src/admin/index.ts';
import type { RunId } from '../../../src/ground/index.ts';
import { identityCodec, lookingCodec } from '../../../src/journal/index.ts';
import type { Store } from '../../../src/store/index.ts';

export interface Asking {
  readonly silentMs?: number;
  readonly isMasked?: boolean;
  readonly mayAudit?: boolean;
  readonly machines?: readonly MachineInfo[];
}

export async function explained(
  store: Store,
  id: string,
  { silentMs = 5_000, isMasked = false, mayAudit = true, machines = [] }: Asking = {},
): Promise<Finding[]> {
  const reader = await store.openReader();
  try {
    const [row] = await reader.find([id as RunId]);
    expect(row, `task ${id}`).toBeDefined();
    const shown = showing(isMasked, []);
    const codec = lookingCodec(identityCodec);
    const asked = { codec, silentMs, shown, mayAudit, machines };
    const findings = explain(await gatherTask(reader, row!, asked));
    findings.forEach(expectWhole);
    return findings;
  } finally {
    await reader.close();
  }
}

/** Every finding is a sentence with something to type, whatever it is about. */
export function expectWhole({ code, sentence, evidence, hint }: Finding): void {
  expect(Object.keys(CODES)).toContain(code);
  expect(sentence).toMatch(/^\S.*\.$/);
  expect(sentence).not.toMatch(/undefined|null|NaN|\[object|\.\.$/);
  for (const { text } of evidence) expect(text).not.toMatch(/undefined|null|NaN|\[object|^$/);
  expect(hint.text).not.toBe('');
  expect(hint.command).toMatch(/^fleetq \w/);
  expect(hint.command).not.toMatch(/undefined/);
}

export interface Wanted {
  readonly code: string;
  readonly says: RegExp;
  /** Of the command to type. */
  readonly command?: RegExp;
}

/** The reason comes first. */
export function expectReason(findings: readonly Finding[], wanted: Wanted): void {
  expect(findings[0]).toMatchObject({ code: wanted.code });
  expect(findings[0]!.sentence).toMatch(wanted.says);
  if (wanted.command) expect(findings[0]!.hint.command).toMatch(wanted.command);
}

export function findingOf(findings: readonly Finding[], code: string): Finding {
  const found = findings.find((each) => each.code === code);
  expect(found, `${code} in ${findings.map((each) => each.code).join(', ')}`).toBeDefined();
  return found!;
}
