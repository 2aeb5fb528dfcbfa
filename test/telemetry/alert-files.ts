/** The alert rules and their cases, as the files of deploy/prometheus have them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { ROOT } from '../docs/markdown.ts';

export const PROMETHEUS = join(ROOT, 'deploy/prometheus');
export const CASE_FILES = ['alerts.test.yaml', 'alerts-slow.test.yaml'] as const;

export interface AlertRule {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}
export interface RecordRule {
  readonly record: string;
  readonly expr: string;
}
interface RuleFile {
  readonly groups: readonly { readonly rules: readonly (AlertRule | RecordRule)[] }[];
}

export interface Expectation {
  readonly alertname: string;
  readonly eval_time: string;
  readonly exp_alerts: readonly { readonly exp_labels: Readonly<Record<string, string>> }[];
}
export interface Case {
  readonly name: string;
  readonly alert_rule_test: readonly Expectation[];
}
export interface CaseFile {
  readonly rule_files: readonly string[];
  readonly evaluation_interval: string;
  readonly tests: readonly Case[];
}

function read<T>(file: string): T {
  return parse(readFileSync(join(PROMETHEUS, file), 'utf8')) as T;
}

const rules = () => read<RuleFile>('alerts.yaml').groups.flatMap((group) => group.rules);

export function alertRules(): AlertRule[] {
  return rules().filter((rule) => 'alert' in rule);
}

export function recordRules(): RecordRule[] {
  return rules().filter((rule) => 'record' in rule);
}

export function caseFiles(): CaseFile[] {
  return CASE_FILES.map((file) => read<CaseFile>(file));
}
