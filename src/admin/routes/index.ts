/** All routes. What each is, is said where its resource is. */
import type { Route } from '../table.ts';
import { actRoutes } from './acts.ts';
import { bulkRoutes } from './bulk.ts';
import { explainRoutes } from './explain.ts';
import { exportRoutes } from './export.ts';
import { failureRoutes } from './failures.ts';
import { figureRoutes } from './figures.ts';
import { fleetRoutes } from './fleet.ts';
import { openapiRoutes } from './openapi.ts';
import { processRoutes } from './process.ts';
import { queueRoutes } from './queues.ts';
import { runRoutes } from './run.ts';
import { runsRoutes } from './runs.ts';
import { scheduleRoutes } from './schedules.ts';
import { sessionRoutes } from './session.ts';
import { startRoutes } from './start.ts';
import { streamRoutes } from './stream.ts';
import { throttleRoutes } from './throttles.ts';

export const ROUTES: readonly Route[] = [
  ...processRoutes,
  ...runsRoutes,
  ...figureRoutes,
  ...startRoutes,
  ...runRoutes,
  ...explainRoutes,
  ...exportRoutes,
  ...actRoutes,
  ...bulkRoutes,
  ...queueRoutes,
  ...scheduleRoutes,
  ...throttleRoutes,
  ...fleetRoutes,
  ...failureRoutes,
  ...streamRoutes,
  ...sessionRoutes,
  // Tells all of them, itself included.
  ...openapiRoutes(() => ROUTES),
];
