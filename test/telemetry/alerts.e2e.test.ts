/** The alerts fire when they have to and not otherwise, by promtool, and each leads to a page. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import { ROOT } from '../docs/markdown.ts';
import { findPrometheus, runPromtool } from '../support/prometheus.ts';
import { currentCommit } from '../support/save-leg.ts';
import { useTempDirs } from '../support/temp-dir.ts';
import { alertRules, CASE_FILES, caseFiles, PROMETHEUS } from './alert-files.ts';
import { type Mutant, mutants, sound } from './alert-mutants.ts';

const newDir = useTempDirs();
const found = findPrometheus();
/** All of them take a minute: a few, chosen by the commit; all with FLEETQ_ALERT_MUTANTS=all. */
const MUTANT_SHARES = 16;
/** Ten seconds of a processor, and a busy host gives a tenth of one. */
const SLOW = { timeout: 180_000 };
const isWhole = process.env['FLEETQ_ALERT_MUTANTS'] === 'all';
const SECTIONS = ['What it means', 'How to see', 'What to do', 'When it is fine'];

const rules = alertRules();
/** What tells rules of one name apart. */
const markOf = (labels: Readonly<Record<string, string>>) =>
  `${labels['severity']} ${labels['cause'] ?? ''}`;

test('every alert is a page or a ticket, says what is wrong in figures, and leads to what to do', () => {
  for (const { alert, annotations, labels } of rules) {
    expect(['page', 'ticket'], alert).toContain(labels['severity']);
    expect(Object.keys(annotations).sort(), alert).toEqual([
      'description',
      'runbook_url',
      'summary',
    ]);
    expect(annotations['description'], alert).toMatch(/\$value|five minutes|two minutes|Every run/);
    const page = join(ROOT, annotations['runbook_url']!);
    expect(existsSync(page), annotations['runbook_url']).toBe(true);
    const text = readFileSync(page, 'utf8');
    expect(text, page).toContain(`\`${alert}\``);
    const headings = [...text.matchAll(/^## (.+)$/gm)].map((match) => match[1]);
    expect(headings, page).toEqual(SECTIONS);
  }
});

test('every rule has a case in which it fires, and every alert cases in which it stays silent', () => {
  const expectations = caseFiles()
    .flatMap(({ tests }) => tests)
    .flatMap((each) => each.alert_rule_test.map((one) => ({ ...one, of: each.name })));
  for (const { alert, labels } of rules) {
    const own = expectations.filter(
      ({ alertname, of }) => alertname === alert && of.startsWith(alert),
    );
    const fired = own.flatMap(({ exp_alerts }) =>
      exp_alerts.map((each) => markOf(each.exp_labels)),
    );
    expect(fired, alert).toContain(markOf(labels));
    expect(own.filter(({ exp_alerts }) => exp_alerts.length === 0).length, alert).toBeGreaterThan(
      0,
    );
  }
  const together = expectations.filter(({ of }) => of.startsWith('nothing fires'));
  const names = new Set(rules.map(({ alert }) => alert));
  expect(new Set(together.map(({ alertname }) => alertname))).toEqual(names);
});

test.skipIf(!found)('Prometheus takes the rules, and every case holds', SLOW, async () => {
  const { promtool } = found!;
  const checked = await runPromtool(promtool, ['check', 'rules', join(PROMETHEUS, 'alerts.yaml')]);
  expect(checked, checked.text).toMatchObject({ code: 0 });
  const files = CASE_FILES.map((file) => join(PROMETHEUS, file));
  const tested = await runPromtool(promtool, ['test', 'rules', ...files]);
  expect(tested, tested.text).toMatchObject({ code: 0 });
});

/** Whether all cases of it hold. */
async function holds({ rules: content, cases }: Mutant): Promise<{ ok: boolean; text: string }> {
  const rulesFile = join(newDir('rules'), 'rules.yaml');
  mkdirSync(dirname(rulesFile), { recursive: true });
  writeFileSync(rulesFile, stringify(content));
  const files = cases.map((file, index) => {
    const path = join(dirname(rulesFile), `cases-${index}.yaml`);
    writeFileSync(path, stringify(file));
    return path;
  });
  const { code, text } = await runPromtool(found!.promtool, ['test', 'rules', ...files]);
  return { ok: code === 0, text };
}

test.skipIf(!found)(
  'a rule with a wrong threshold or a wrong patience fails one of its cases',
  {
    timeout: isWhole ? 1_800_000 : 180_000,
  },
  async () => {
    for (const each of isWhole ? sound() : [])
      expect(await holds(each), each.name).toMatchObject({ ok: true });
    const all = mutants();
    expect(all.length).toBeGreaterThan(60);
    const turn = Number.parseInt(currentCommit().slice(0, 8), 16) % MUTANT_SHARES;
    const chosen = all.filter((_, index) => isWhole || index % MUTANT_SHARES === turn);
    const survivors: string[] = [];
    for (const each of chosen) {
      const { ok, text } = await holds(each);
      if (ok) survivors.push(each.name);
      else expect(text, each.name).toContain('alertname:');
    }
    expect(survivors).toEqual([]);
  },
);
