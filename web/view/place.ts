/** What the page knows of an element's place: its width, and whether it is in sight. */
import type { RefObject } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

/** An element to be placed, and its width in pixels. */
export function useWidth(): [RefObject<HTMLDivElement | null>, number] {
  const place = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(320);
  useLayoutEffect(() => {
    const element = place.current;
    if (!element) return;
    const measure = (): void => setWidth(Math.max(200, Math.floor(element.clientWidth)));
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    measure();
    return () => observer.disconnect();
  }, []);
  return [place, width];
}

/** Whether an element is in sight. */
export function useSight(place: RefObject<HTMLElement | null>): boolean {
  const [isSeen, setSeen] = useState(false);
  useLayoutEffect(() => {
    if (!place.current) return;
    const observer = new IntersectionObserver(([{ isIntersecting }]) => setSeen(isIntersecting), {
      rootMargin: '100px',
    });
    observer.observe(place.current);
    return () => observer.disconnect();
  }, [place]);
  return isSeen;
}
