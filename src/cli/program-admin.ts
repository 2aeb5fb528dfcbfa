/** The commands around the HTTP API: serve it, let people in, describe it. */
import type { Command } from 'commander';
import { type Add, LOOK_SETTINGS } from './add-command.ts';

export function addAdmin(program: Command, add: Add): void {
  add(
    'admin',
    'Answer the HTTP API, and execute nothing.',
    async () => (await import('./admin/admin.ts')).admin,
    ['dataDir', ...LOOK_SETTINGS, 'machines', 'silence', 'listen', 'logLevel'],
  ).addHelpText('after', ADMIN_HELP);
  const token = program
    .command('token')
    .helpCommand(false)
    .description('Tokens, by which people and programs are known to the HTTP API.');
  add(
    'new',
    'Make one: prints its secret once, and the line for the config.',
    async () => (await import('./admin/token.ts')).newToken,
    [],
    token,
  )
    .option('--name <name>', 'whose it is, for the audit log')
    .option('--role <role>', 'read, operate or admin', 'read')
    .option('--reveal', 'may also look at payloads, results and errors');
  add(
    'openapi',
    'Print the HTTP API as an OpenAPI 3.1 document.',
    async () => (await import('./admin/openapi.ts')).openapi,
    [],
  );
}

const ADMIN_HELP = `
It answers what the store holds of everybody's runs. Without tokens it listens on loopback alone
(127.0.0.1:7433 where nothing is said), and everybody on this host may do everything.

Examples:
  fleetq admin --store postgres://app@db/fleet
  FLEETQ_TOKENS=ada:admin:… fleetq admin --store sqlite:./fleet.db --listen :7433
`;
