/** What whoever fixes the limit of an API has to know: its name may be mistyped, and code has a say. */
import { nearest } from '../../config/index.ts';
import { show } from '../../ground/index.ts';
import type { ThrottleView } from '../../throttle/index.ts';

export function pinNote(
  views: readonly ThrottleView[],
  { api, cap }: { readonly api: string; readonly cap: number },
): string | undefined {
  const known = views.filter((view) => view.cap !== undefined);
  const found = known.find((view) => view.api === api);
  if (!found) {
    const near = nearest(
      api,
      known.map((view) => view.api),
    );
    const meant = near === undefined ? '' : `; did you mean ${near}?`;
    return `no pod has told of calls of ${show(api)} yet: it holds from the first one on${meant}`;
  }
  const { ceiling } = found;
  if (ceiling === undefined || cap <= ceiling) return undefined;
  return `${api} was declared to take ${ceiling} at most: no more than that will be out`;
}
