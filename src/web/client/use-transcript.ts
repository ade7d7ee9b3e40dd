import { useEffect, useMemo, useState } from "preact/hooks";
import { TranscriptReader, type Reading } from "./transcript-reader.ts";

const FOLLOW_MS = 1_500;

/** A text of any size; at its end it is followed while it grows. Null until something is loaded. */
export function useTranscript(
  iteration: number,
  isRunning: boolean,
): { readonly reader: TranscriptReader; readonly reading: Reading | null } {
  const [reading, setReading] = useState<Reading | null>(null);
  const reader = useMemo(() => new TranscriptReader(iteration, setReading), [iteration]);
  useEffect(() => {
    if (isRunning) reader.toEnd();
    else reader.jump(0);
  }, [reader]);
  useEffect(() => {
    if (!isRunning) return undefined;
    const timer = setInterval(() => {
      if (!document.hidden && reader.isAtEnd) reader.after();
    }, FOLLOW_MS);
    return () => {
      clearInterval(timer);
      // Its last words.
      reader.after();
    };
  }, [reader, isRunning]);
  return { reader, reading };
}
