-- Whatever there is little of, as JSON texts: routes, leaders, queues and machines that stand still, APIs,
-- schedules, bulk operations. One table, so that one statement reads several kinds.
create hybrid table if not exists fleet_fact (
  kind varchar(16) not null,
  fact_id varchar(1000) not null,
  body varchar not null,
  rev varchar(64) not null,
  primary key (kind, fact_id)
);
