/** Statements on machine_registry. */
import { sql } from './sql.ts';

/** $1 routes, $2 machines, $3 fingerprints. The first to announce a route is remembered. */
export const announceRoutes = sql`
  insert into machine_registry (route, machine, fingerprint)
  select * from unnest($1::text[], $2::text[], $3::text[]) as route (route, machine, fingerprint)
   order by route
  on conflict (route) do nothing`;
