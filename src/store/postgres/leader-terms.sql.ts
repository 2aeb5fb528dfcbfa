/** Statements on leader_terms. */
import { msOf, spanOf, sql } from './sql.ts';

/** $1 pod, $2 which of its terms. Told again it is the same term. */
export const beginTerm = sql`
  insert into leader_terms (pod_id, term, name)
  select pod_id, $2, name from pod_health where pod_id = $1
  on conflict do nothing`;

/** $1 count. */
export const selectTerms = sql`
  select pod_id, name, ${msOf('since')} as since from leader_terms
   order by since desc, pod_id desc, term desc limit $1`;

/** $1 age in ms, $2 count. Whoever began last may lead still. */
export const deleteTerms = sql`
  delete from leader_terms
   where (pod_id, term) in (
     select pod_id, term from leader_terms
      where since < clock_timestamp() - ${spanOf('$1::float8')}
        and since < (select max(since) from leader_terms)
      order by since limit $2)`;
