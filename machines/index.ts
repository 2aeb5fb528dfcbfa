/** The machines that FleetQ ships. */
import type { Machine } from 'fleetq';
import { hello } from './hello.ts';
import { imageInstall } from './image/install.ts';
import { llmSummarise } from './llm-summarise/summarise.ts';
import { charge } from './sample/charge.ts';
import { flaky } from './sample/flaky.ts';
import { lookup } from './sample/lookup.ts';
import { resize } from './sample/resize.ts';

export { charge, flaky, hello, imageInstall, llmSummarise, lookup, resize };

export const shippedMachines: readonly Machine[] = [
  hello,
  imageInstall,
  llmSummarise,
  resize,
  lookup,
  flaky,
  charge,
];
