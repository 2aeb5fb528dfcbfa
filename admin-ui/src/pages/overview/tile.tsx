/** One figure, and where what it counts is listed. */
import { Link } from '../../router/router.tsx';

interface TileProps {
  readonly name: string;
  /** Undefined while it is asked for. */
  readonly value: string | undefined;
  readonly note: string;
  readonly to: string;
  readonly kind: 'ok' | 'run' | 'wait' | 'bad' | 'off';
}

export function Tile({ name, value, note, to, kind }: TileProps) {
  return (
    <li className="tile" data-kind={kind}>
      <Link to={to}>
        <span className="tile-name">{name}</span>
        <strong className="number">{value ?? '…'}</strong>
        <small>{value === undefined ? ' ' : note}</small>
      </Link>
    </li>
  );
}
