/** What differs between two values, path by path. */
import { useMemo } from 'react';
import { diffOf, LINES_MAX } from './diff.ts';

interface ChangesProps {
  readonly before: object;
  readonly after: object;
  /** What is said where they are the same. */
  readonly nothing: string;
}

export function Changes({ before, after, nothing }: ChangesProps) {
  const lines = useMemo(() => diffOf(before, after), [before, after]);
  if (lines.length === 0) return <p className="nothing">{nothing}</p>;
  return (
    <ul className="diff" tabIndex={0}>
      {lines.map(({ path, before: was, after: is }) => (
        <li
          key={path}
          data-kind={was === undefined ? 'added' : is === undefined ? 'gone' : 'changed'}
        >
          <code className="diff-path">{path}</code>
          {was !== undefined && <del>{was}</del>}
          {is !== undefined && <ins>{is}</ins>}
        </li>
      ))}
      {lines.length >= LINES_MAX && <li className="quiet">… and more</li>}
    </ul>
  );
}
