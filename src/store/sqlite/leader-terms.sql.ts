/** Statements on leader_terms. */

/** @pod, @term, @now. Told again it is the same term. */
export const beginTerm = `
  insert into leader_terms (pod_id, term, name, since)
  select pod_id, @term, name, @now from pod_health where pod_id = @pod
  on conflict do nothing`;

/** @count. */
export const selectTerms = `
  select pod_id, name, since from leader_terms
   order by since desc, pod_id desc, term desc limit @count`;

/** @before, @count. Whoever began last may lead still. */
export const deleteTerms = `
  delete from leader_terms
   where (pod_id, term) in (
     select pod_id, term from leader_terms
      where since < @before and since < (select max(since) from leader_terms)
      order by since limit @count)`;
