/** Boxes to pick rows by, and a row that knows whether it is picked, or the one that one is at. */
import type { KeyboardEvent, ReactNode } from 'react';
import type { Run } from '../services/types.ts';
import type { Selection } from './use-selection.ts';

interface PickAllProps {
  readonly rows: readonly { readonly id: string }[];
  readonly selection: Selection;
}

export function PickAll({ rows, selection: { ids, isAll, toggleLoaded } }: PickAllProps) {
  return (
    <th scope="col" className="col-select">
      <input
        type="checkbox"
        aria-label="Select all rows that are loaded"
        checked={isAll || (rows.length > 0 && rows.every(({ id }) => ids.has(id)))}
        onChange={toggleLoaded}
      />
    </th>
  );
}

export interface RowProps {
  readonly run: Run;
  readonly index: number;
  readonly selection: Selection;
}

export function RunRow({ run, index, selection, children }: RowProps & { children: ReactNode }) {
  const isPicked = selection.isAll || selection.ids.has(run.id);
  return (
    <tr
      data-index={index}
      data-current={index === selection.at || undefined}
      data-selected={isPicked || undefined}
      aria-rowindex={index + 2}
    >
      <td className="col-select">
        <input
          type="checkbox"
          aria-label={`Select ${run.machine} ${run.id}`}
          checked={isPicked}
          onChange={() => selection.toggle(run.id)}
        />
      </td>
      {children}
    </tr>
  );
}

/** On the link of a row, where Enter opens it. */
export function selectBySpace(event: KeyboardEvent, toggle: () => void): void {
  if (event.key !== ' ') return;
  event.preventDefault();
  toggle();
}
