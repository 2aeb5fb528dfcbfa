/** Every PromQL expression that ships, with where it stands, and the names in it. */
import { DASHBOARDS } from '../../deploy/grafana/src/dashboards.ts';
import type { Panel } from '../../deploy/grafana/src/grafana.ts';
import { blocksOf, pages } from '../docs/markdown.ts';
import { alertRules, recordRules } from './alert-files.ts';

export interface Expression {
  readonly where: string;
  /** As Prometheus would get it: what Grafana fills in is filled in. */
  readonly expr: string;
}

const FILLED: readonly (readonly [RegExp, string])[] = [
  [/\$__rate_interval/g, '1m'],
  [/\$(fleet|machine|pod|api)\b/g, '.*'],
];

export function filled(expr: string): string {
  return FILLED.reduce((text, [variable, value]) => text.replaceAll(variable, value), expr);
}

export function dashboardExpressions(): Expression[] {
  return Object.entries(DASHBOARDS).flatMap(([file, { panels, annotations, templating }]) => [
    ...panels
      .filter((panel): panel is Panel => panel.type !== 'row')
      .flatMap(({ title, targets }) =>
        targets.map(({ expr }) => ({ where: `${file}: ${title}`, expr: filled(expr) })),
      ),
    ...annotations.list
      .filter(({ expr }) => expr !== undefined)
      .map(({ name, expr }) => ({ where: `${file}: ${name}`, expr: filled(expr!) })),
    ...templating.list
      .filter(({ definition }) => definition !== undefined)
      .map(({ name, definition }) => ({
        where: `${file}: $${name}`,
        expr: filled(/^label_values\((.+), \w+\)$/.exec(definition!)?.[1] ?? definition!),
      })),
  ]);
}

export function ruleExpressions(): Expression[] {
  return [
    ...recordRules().map(({ record, expr }) => ({ where: record, expr })),
    ...alertRules().map(({ alert, expr }) => ({ where: alert, expr })),
  ];
}

export function pageExpressions(): Expression[] {
  return pages()
    .flatMap((page) => blocksOf(page))
    .filter(({ kind }) => kind?.is === 'promql')
    .map(({ page, line, text }) => ({ where: `${page}:${line}`, expr: text }));
}

/** Names of metrics, and of what rules record; words in quotes are none. */
export function namesIn(text: string): string[] {
  const bare = text.replaceAll(/"[^"\n]*"/g, '""');
  const words = bare.match(/[a-zA-Z_][a-zA-Z0-9_:]*/g) ?? [];
  return [...new Set(words.filter((word) => /^(fleetq|nodejs|process)_|:/.test(word)))].filter(
    (word) => !word.endsWith(':') && !word.endsWith('_'),
  );
}

/** A metric and the labels that are asked of it, `name{label=…}`. */
export function selectorsIn(expr: string): { readonly name: string; readonly labels: string[] }[] {
  return [...expr.matchAll(/([a-zA-Z_:]\w*)\{([^}]*)\}/g)].map((match) => ({
    name: match[1]!,
    labels: [...match[2]!.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map((label) => label[1]!),
  }));
}

/** Labels by which something is summed or joined. */
export function groupingsIn(expr: string): string[] {
  return [...expr.matchAll(/\b(?:by|on) \(([^)]*)\)/g)].flatMap((match) => match[1]!.split(/,\s*/));
}

/** The family that a sample belongs to: a histogram has three kinds of them. */
export function familyOf(name: string, families: ReadonlySet<string>): string | undefined {
  if (families.has(name)) return name;
  const family = name.replace(/_(bucket|count|sum)$/, '');
  return families.has(family) ? family : undefined;
}
