/** What a pod's process is told: it reads its configuration as any process does. */
import {
  type Config,
  codecKeysText,
  SETTING_NAMES,
  type SettingName,
  type Settings,
  variableOf,
} from '../../config/index.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** The settings of this process, and `over` where it says otherwise. */
export function environmentOf(config: Config, over: Partial<Settings>): Environment {
  const settings = SETTING_NAMES.flatMap((name: SettingName) => {
    const value = name in over ? over[name] : config[name];
    return [[variableOf(name), value === undefined ? undefined : textOf(value)]];
  });
  return { ...process.env, ...Object.fromEntries(settings) };
}

function textOf(value: NonNullable<Settings[SettingName]>): string {
  if (Array.isArray(value)) return value.join(',');
  return typeof value === 'object' && 'keys' in value
    ? codecKeysText(value as NonNullable<Settings['codec']>)
    : String(value);
}

/** The next pod answers on the next port; any port stays any port. */
export function nextListen(listen: string | undefined, number: number): string | undefined {
  if (listen === undefined) return undefined;
  const cut = listen.lastIndexOf(':') + 1;
  const port = Number(listen.slice(cut));
  return port === 0 ? listen : `${listen.slice(0, cut)}${port + number - 1}`;
}
