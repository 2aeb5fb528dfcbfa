/** The tab's stream for components: follow a topic, see how it stands, pause it. */
import { useEffect, useRef, useSyncExternalStore } from 'react';
import { type Heard, type LiveState, Stream } from './stream.ts';

export const stream = new Stream();

const look = () => stream.hide(document.visibilityState === 'hidden');
document.addEventListener('visibilitychange', look);
look();

export function useLiveState(): LiveState {
  return useSyncExternalStore(stream.watch, () => stream.state);
}

/** `topic` undefined follows nothing. */
export function useFollow(topic: string | undefined, listen: (heard: Heard) => void): void {
  const current = useRef(listen);
  current.current = listen;
  useEffect(() => {
    if (topic === undefined) return;
    return stream.follow(topic, (heard) => current.current(heard));
  }, [topic]);
}
