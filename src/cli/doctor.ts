/** fleetq doctor: what has to be right before a run can be trusted to this host, and how to mend it. */
import { join } from 'node:path';
import type { Config } from '../config/index.ts';
import { codecKeyIds, SETTING_NAMES, type SettingName } from '../config/index.ts';
import { codecChecks } from './codec-checks.ts';
import type { Context, Execute } from './command.ts';
import { type Check, directoryChecks, runtimeChecks } from './doctor-checks.ts';
import { Exit } from './exit.ts';
import { loadFrom, machinesPlace, NO_MACHINES_HINT } from './machines.ts';
import type { Output } from './output.ts';
import type { Style } from './paint.ts';
import { plain } from './table.ts';

export const doctor: Execute = async (context, options) => {
  const { config, output } = context;
  const checks = [
    ...(await runtimeChecks()),
    ...(await directoryChecks(config)),
    ...configChecks(config),
    ...codecChecks(config),
    await machinesCheck(config),
    ...(options['store'] === true ? await checkStore(context) : []),
  ];
  const values = SETTING_NAMES.map((name) => ({
    name,
    value: shownValue(config, name),
    source: config.sources[name],
  }));
  const hasFailed = checks.some(({ verdict }) => verdict === 'fail');
  if (output.isJson) output.json({ isHealthy: !hasFailed, checks, config: values });
  else show(output, checks, values);
  return hasFailed ? Exit.doctorFoundProblems : Exit.ok;
};

const STYLE: Record<Check['verdict'], Style> = { ok: 'green', warn: 'yellow', fail: 'red' };

function show(
  output: Output,
  checks: readonly Check[],
  values: readonly { name: string; value: unknown; source: string }[],
): void {
  for (const { verdict, name, fact, fix } of checks) {
    const mark = output.paint(STYLE[verdict], verdict.padEnd(4));
    output.line(`${mark}  ${name.padEnd(10)}  ${plain(fact)}`);
    if (fix !== undefined)
      output.line(`${' '.repeat(18)}${output.paint('gray', `→ ${plain(fix)}`)}`);
  }
  output.line('');
  for (const { name, value, source } of values) {
    const text = value === null ? '(not set)' : String(value);
    output.line(`      ${name.padEnd(14)}  ${text.padEnd(22)}  ${output.paint('gray', source)}`);
  }
}

/** Nothing of a key, and no password: what doctor prints is pasted into tickets. */
function shownValue(config: Config, name: SettingName): unknown {
  if (isAddress(name)) return withoutPassword(config[name]);
  if (name === 'codec') return config.codec ? codecKeyIds(config.codec) : null;
  return config[name] ?? null;
}

/** Only on request: the store may be far away, and its rules are looked at row by row. */
async function checkStore(context: Context): Promise<Check[]> {
  const { storeChecks } = await import('./fleet/store-checks.ts');
  return storeChecks(context);
}

function isAddress(name: SettingName): name is 'store' | 'readStore' | 'listenUrl' {
  return name === 'store' || name === 'readStore' || name === 'listenUrl';
}

/** An address may hold a password, and what doctor prints is pasted into tickets. */
export function withoutPassword(address: string | undefined): string | null {
  if (address === undefined) return null;
  const [scheme] = /^(postgres(ql)?|snowflake)(?=:)/i.exec(address) ?? [];
  if (scheme === undefined) return address;
  if (!URL.canParse(address)) return `${scheme}://…`;
  const url = new URL(address);
  if (url.password !== '') url.password = '***';
  for (const name of url.searchParams.keys()) {
    if (/pass|secret|token/i.test(name)) url.searchParams.set(name, '***');
  }
  return url.href;
}

function configChecks({ unknownVariables }: Config): Check[] {
  return unknownVariables.length === 0
    ? []
    : [
        {
          name: 'environment',
          verdict: 'warn',
          fact: `nobody reads ${unknownVariables.join(', ')}`,
          fix: 'correct the name, or remove the variable',
        },
      ];
}

async function machinesCheck(config: Config): Promise<Check> {
  const place = machinesPlace(config, config.cwd);
  if (!place) {
    const fact = `there are none at ${join(config.cwd, 'machines')}`;
    return { name: 'machines', verdict: 'warn', fact, fix: NO_MACHINES_HINT };
  }
  try {
    const { from, origin } = place;
    const { machines } = await loadFrom(place);
    const names = machines.map(({ name, version }) => `${name}@${version}`).join(', ');
    return machines.length > 0
      ? { name: 'machines', verdict: 'ok', fact: `${names} (${origin}: ${from})` }
      : {
          name: 'machines',
          verdict: 'warn',
          fact: `no file under ${from} exports a machine`,
          fix: 'export what defineMachine returns',
        };
  } catch (error) {
    const { message, hint } = error as Error & { hint?: string };
    return { name: 'machines', verdict: 'fail', fact: message, fix: hint };
  }
}
