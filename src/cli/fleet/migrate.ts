/** fleetq migrate up | status | plan: the tables of the store, forward only. */
import { describeError } from '../../ground/index.ts';
import { StoreOptionsError } from '../../store/index.ts';
import type { Migrated, Migration, MigrationStatus } from '../../store/migrations.ts';
import { sqlitePath } from '../../store/open-store.ts';
import type { Context, Execute } from '../command.ts';
import { Exit } from '../exit.ts';
import type { Output } from '../output.ts';
import { storeAddress, storeOptions } from './open.ts';

type Act = 'migrate' | 'look';

export const up: Execute = async (context, options) => {
  if (options['dryRun'] === true) return plan(context, options);
  const { output } = context;
  const after = await ask(context, 'migrate');
  // Somebody else may have been faster; then there was less to do.
  const applied = (after.made ?? []).map(nameOf);
  if (output.isJson) output.json({ version: versionOf(after), applied });
  else {
    for (const name of applied) output.line(`applied  ${name}`);
    output.note(`the schema is at version ${versionOf(after)}`);
  }
  return Exit.ok;
};

export const status: Execute = async (context) => {
  const { output } = context;
  const found = await ask(context, 'look');
  const { applied, pending } = found;
  if (output.isJson) {
    const names = { applied: applied.map(nameOf), pending: pending.map(nameOf) };
    output.json({ version: versionOf(found), isUpToDate: pending.length === 0, ...names });
  } else {
    for (const { name } of applied) output.line(`applied  ${name}`);
    for (const { name } of pending) output.line(`${output.paint('yellow', 'pending')}  ${name}`);
  }
  if (pending.length > 0) output.note(`${pending.length} pending; run: fleetq migrate up`);
  return pending.length === 0 ? Exit.ok : Exit.notMigrated;
};

/** What `up` would do, as SQL: for those who do it by hand, or want to read it first. */
export const plan: Execute = async (context) => {
  const { output } = context;
  const { pending } = await ask(context, 'look');
  if (output.isJson) output.json({ pending: pending.map(({ name, sql }) => ({ name, sql })) });
  else for (const migration of pending) showSql(migration, output);
  output.note(
    pending.length === 0
      ? 'nothing is pending'
      : `${pending.length} pending; nothing was changed; apply them with: fleetq migrate up`,
  );
  return Exit.ok;
};

function showSql({ name, sql }: Migration, output: Output): void {
  output.line(`${output.paint('bold', `-- ${name}`)}\n${sql.trimEnd()}\n`);
}

/** The drivers are loaded only where one of their addresses comes. */
async function ask({ config }: Context, act: Act): Promise<MigrationStatus & Partial<Migrated>> {
  const address = storeAddress(config);
  const options = storeOptions(config);
  if (/^postgres/i.test(address)) {
    const postgres = await import('../../store/postgres/migrate.ts');
    return act === 'look'
      ? postgres.postgresStoreStatus(address, options)
      : postgres.migratePostgresStore(address, options);
  }
  if (/^sqlite:/i.test(address)) {
    const sqlite = await import('../../store/sqlite/migrate.ts');
    const path = sqlitePath(address);
    return act === 'look'
      ? sqlite.sqliteStoreStatus(path, options)
      : sqlite.migrateSqliteStore(path, options);
  }
  if (/^snowflake:/i.test(address)) {
    const snowflake = await import('../../store/snowflake/open.ts');
    return act === 'look'
      ? snowflake.snowflakeStoreStatus(address, options)
      : snowflake.migrateSnowflakeStore(address, options);
  }
  throw new StoreOptionsError('tables in memory are made anew by every process', {
    hint: 'name a store that lasts, like postgres://user@host/database or sqlite:./fleet.db',
  });
}

/** How far the schema has come, for doctor: its status, or why it cannot be told. */
export function schemaOf(context: Context): Promise<MigrationStatus | string> {
  return ask(context, 'look').catch((error) => describeError(error).message);
}

function versionOf({ applied }: MigrationStatus): number {
  return applied.at(-1)?.version ?? 0;
}

function nameOf({ name }: { readonly name: string }): string {
  return name;
}
