/**
 * Alert rules with one thing wrong each: a threshold moved up or down by half, a `for` taken away or
 * made three times as long. Whoever wrote the cases has come close enough if every one is noticed.
 */
import {
  type AlertRule,
  alertRules,
  type CaseFile,
  caseFiles,
  recordRules,
} from './alert-files.ts';

export interface Mutant {
  readonly name: string;
  /** A file of rules, and files of cases for it; all of the same alert, and nothing else. */
  readonly rules: object;
  readonly cases: readonly CaseFile[];
}

const FACTOR = 1.5;
const FOR_FACTOR = 3;
/** Compared with zero there is no "half as much". */
const COMPARED = /(>=|<=|==|>|<) (\d+(?:\.\d+)?)/g;

/** Each alert as it is, by itself: its cases have to hold, or no mutant of it says anything. */
export function sound(): Mutant[] {
  return [...new Set(alertRules().map(({ alert }) => alert))].map((alert) => {
    const own = alertRules().filter((rule) => rule.alert === alert);
    return mutant(`${alert} as it is`, alert, own);
  });
}

export function mutants(): Mutant[] {
  const all = alertRules();
  return all.flatMap((rule) => {
    const kin = all.filter(({ alert }) => alert === rule.alert);
    return changesOf(rule).map(([what, changed]) =>
      mutant(
        `${rule.alert} ${rule.labels['cause'] ?? rule.labels['severity']}: ${what}`,
        rule.alert,
        kin.map((each) => (each === rule ? changed : each)),
      ),
    );
  });
}

function changesOf(rule: AlertRule): [what: string, changed: AlertRule][] {
  const changes: [string, AlertRule][] = [];
  for (const { 0: text, 1: sign, 2: number, index } of rule.expr.matchAll(COMPARED)) {
    if (Number(number) === 0) continue;
    for (const moved of [Number(number) * FACTOR, Number(number) / FACTOR]) {
      const expr = `${rule.expr.slice(0, index)}${sign} ${moved}${rule.expr.slice(index + text.length)}`;
      changes.push([`${text} at ${index} becomes ${moved}`, { ...rule, expr }]);
    }
  }
  if (rule.for === undefined) return changes;
  const minutes = Number(/^(\d+)m$/.exec(rule.for)?.[1]);
  changes.push(['for at once', { ...rule, for: '0s' }]);
  changes.push(['for thrice as long', { ...rule, for: `${minutes * FOR_FACTOR}m` }]);
  return changes;
}

function mutant(name: string, alert: string, own: readonly AlertRule[]): Mutant {
  const isRecorded = own.some(({ expr }) => expr.includes('job_machine:'));
  const cases = caseFiles()
    .map((file) => ({
      ...file,
      rule_files: ['rules.yaml'],
      tests: file.tests
        .map((each) => ({
          ...each,
          alert_rule_test: each.alert_rule_test.filter(({ alertname }) => alertname === alert),
        }))
        .filter(({ alert_rule_test }) => alert_rule_test.length > 0)
        .filter((each) => each.name.startsWith(alert)),
    }))
    .filter(({ tests }) => tests.length > 0);
  const groups = [
    ...(isRecorded ? [{ name: 'fleetq.slo', rules: recordRules() }] : []),
    { name: 'fleetq.alerts', rules: own },
  ];
  return { name, rules: { groups }, cases };
}
