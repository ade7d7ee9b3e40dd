import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

interface VirtualRowsProps {
  readonly count: number;
  readonly rowPx: number;
  readonly label: string;
  readonly render: (index: number) => ComponentChildren;
  /** Told which rows are to be seen. */
  readonly onRange?: (first: number, last: number) => void;
  readonly class?: string;
  readonly role?: "rowgroup" | "region";
}

const AROUND = 12;

/** Rows of one height, of which only those in sight are in the document. */
export function VirtualRows(props: VirtualRowsProps) {
  const { count, rowPx, label, render, onRange, role = "region" } = props;
  const own = useRef<HTMLDivElement>(null);
  const filler = useRef<HTMLDivElement>(null);
  const rows = useRef<HTMLDivElement>(null);
  const [{ top, height }, setPlace] = useState({ top: 0, height: 600 });
  useLayoutEffect(() => {
    const element = own.current;
    if (element === null) return undefined;
    const look = (): void => setPlace({ top: element.scrollTop, height: element.clientHeight });
    const observer = new ResizeObserver(look);
    observer.observe(element);
    element.addEventListener("scroll", look, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", look);
    };
  }, []);
  const first = Math.max(0, Math.min(Math.floor(top / rowPx), count - 1) - AROUND);
  const last = Math.min(count, Math.ceil((top + height) / rowPx) + AROUND);
  useLayoutEffect(() => {
    if (filler.current !== null) filler.current.style.height = `${count * rowPx}px`;
    if (rows.current !== null) rows.current.style.transform = `translateY(${first * rowPx}px)`;
  }, [count, rowPx, first]);
  useEffect(() => onRange?.(first, last), [first, last, count]);
  const indexes = Array.from({ length: Math.max(0, last - first) }, (_, offset) => first + offset);
  return (
    <div ref={own} class={`virtual ${props.class ?? ""}`} role={role} aria-label={label} tabIndex={0}>
      <div ref={filler} class="virtual-filler" role="presentation">
        <div ref={rows} class="virtual-rows" role="presentation">
          {indexes.map(render)}
        </div>
      </div>
    </div>
  );
}
